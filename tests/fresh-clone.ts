import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { root, rootManifest } from './workspace.ts'

interface Running {
  readonly pid: number
  readonly ended: Promise<Ended>
  stop(signal: NodeJS.Signals): void
}

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A checkout in which nothing is installed, and a `pnpm` and an `npx` that only write down how they are called. */
export class FreshClone implements Disposable {
  readonly dir: string
  private readonly commands: string
  private readonly children: ChildProcess[] = []

  constructor({ pnpmVersion = rootManifest.packageManager.split('@')[1] }: { pnpmVersion?: string } = {}) {
    this.dir = mkdtempSync(join(tmpdir(), 'offshoot-clone-'))
    this.commands = join(this.dir, 'commands')
    cpSync(join(root, 'scripts'), join(this.dir, 'scripts'), { recursive: true })
    this.write('package.json', JSON.stringify({ engines: rootManifest.engines, packageManager: rootManifest.packageManager }))
    this.write('pnpm-workspace.yaml', 'packages:\n  - packages/*\n')
    this.write('pnpm-lock.yaml', '')
    this.write('packages/a/package.json', '{}')
    this.program('commands/pnpm', `#!/bin/sh\n[ "$1" = --version ] && echo ${pnpmVersion} && exit\n${record}`)
    this.program('commands/npx', `#!/bin/sh\n${record}`)
    execFileSync('mkfifo', [join(this.dir, 'gate')])
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.dir, path)), { recursive: true })
    writeFileSync(join(this.dir, path), text)
  }

  program(path: string, text: string): void {
    this.write(path, text)
    chmodSync(join(this.dir, path), 0o755)
  }

  exists(path: string): boolean {
    return existsSync(join(this.dir, path))
  }

  /** How the installer was called, once a line. */
  get calls(): string[] {
    return this.exists('calls') ? readFileSync(join(this.dir, 'calls'), 'utf8').trimEnd().split('\n') : []
  }

  /** Run `scripts/setup.mjs`, with what `env` adds: `THEN` is what the installer does after it has written its call down. */
  setup(env: Record<string, string> = {}): Running {
    return this.run('setup', [], env)
  }

  /** Run a script by its name, with a PATH that leads to nothing of this machine but its basic commands. */
  run(script: string, args: readonly string[], env: Record<string, string> = {}): Running {
    const child = spawn(process.execPath, [join(this.dir, 'scripts', `${script}.mjs`), ...args], {
      cwd: this.dir,
      env: { PATH: [this.commands, '/usr/bin', '/bin'].join(delimiter), CLONE: this.dir, ...env },
    })
    this.children.push(child)
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', chunk => { stdout += chunk })
    child.stderr.setEncoding('utf8').on('data', chunk => { stderr += chunk })
    const ended = new Promise<Ended>(resolve => { child.once('close', code => { resolve({ code, stdout, stderr }) }) })
    return { pid: child.pid!, ended, stop: signal => { child.kill(signal) } }
  }

  /** Let an installer go on that waits with `THEN='read line < "$CLONE/gate"'`. */
  open(): void {
    writeFileSync(join(this.dir, 'gate'), 'go\n')
  }

  [Symbol.dispose](): void {
    for (const child of this.children) child.kill('SIGKILL')
    rmSync(this.dir, { recursive: true })
  }
}

const record = 'echo "$(basename "$0") $*" >> "$CLONE/calls"\neval "$THEN"\n'
