// `npm start`: builds, then runs the example app on a task of its own, or on the words given after `--`.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import './build.mjs'
import { root } from './workspace.mjs'

const words = process.argv.slice(2)
const task = ['What is this project for, how many packages does it have, and under which licence is it published?']

// In this process, so that input, output, signals and the exit code are the command's own.
const bin = join(root, 'packages', 'cli', 'lib', 'bin.js')
process.chdir(root)
process.argv = [process.execPath, bin, 'run', '-c', 'examples/delegate/cordis.yml', ...(words.length > 0 ? words : task)]
await import(pathToFileURL(bin).href)
