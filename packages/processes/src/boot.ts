import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Tells one run of the machine from another: start times count from the boot. */
export function bootId(): string {
  return process.platform === 'linux'
    ? readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    : execFileSync('sysctl', ['-n', 'kern.boottime'], { encoding: 'utf8' }).trim()
}
