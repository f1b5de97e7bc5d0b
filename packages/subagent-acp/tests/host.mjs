// A host that starts an agent of its own making, records it, says who it is, and then waits to be killed.
import { identify } from '@offshoot/processes'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { markVariable, newMark } from '../lib/family.js'
import { LaunchRecords } from '../lib/launch-records.js'

const [, , dir] = process.argv
const mark = newMark()
// Deaf to the end of its input; its grandchild is in a session of its own.
const child = spawn('/bin/sh', ['-c', 'setsid sleep 600 > /dev/null & echo $!; exec sleep 600'], {
  detached: true, stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, ...markVariable(mark) },
})
const [said] = await once(child.stdout, 'data')
new LaunchRecords(dir).add(identify(child.pid), '/usr/bin/some-agent', mark)
process.stdout.write(JSON.stringify({ child: identify(child.pid), grandchild: identify(Number(said)) }))
setInterval(() => {}, 60_000)
