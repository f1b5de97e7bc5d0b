#!/usr/bin/env node
// The build makes `bin.cjs` of this: Node starts CommonJS sooner.
import { Carried } from './carried.ts'

// A reader that went away (`offshoot … | head`) wants nothing more; that is no failure of ours.
// Nor is a terminal that was closed.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error
  })
}

const args = process.argv.slice(2)
// An editor starts `acp` for each of its windows, and a parent for each child: it has to be there at once.
const carried = args[0] === 'acp' ? new Carried().command : undefined
void Promise.resolve(carried ?? import('./main.ts')).then(async ({ main }) => { process.exitCode = await main(args, process) })
