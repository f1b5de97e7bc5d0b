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
// An app that follows its config may come to name any plugin: it is loaded from disk as a whole.
const carried = args[0] === 'start' || args.includes('--watch') ? undefined : new Carried().command
void Promise.resolve(carried ?? import('./main.ts')).then(async ({ main }) => { process.exitCode = await main(args, process) })
