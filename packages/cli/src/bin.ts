#!/usr/bin/env node
import { main } from './main.ts'

// A reader that went away (`offshoot … | head`) wants nothing more; that is no failure of ours.
// Nor is a terminal that was closed.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error
  })
}

process.exitCode = await main(process.argv.slice(2), process)
