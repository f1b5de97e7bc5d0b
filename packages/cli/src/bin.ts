#!/usr/bin/env node
import { main } from './main.ts'

// A reader that went away (`offshoot … | head`) wants nothing more; that is no failure of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

process.exitCode = await main(process.argv.slice(2), process)
