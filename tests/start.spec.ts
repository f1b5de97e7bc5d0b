import { join } from 'node:path'
import { expect, it } from 'vitest'
import { FreshClone } from './fresh-clone.ts'

const config = 'examples/delegate/cordis.yml'

/** A clone whose compiler does `compiler`, and whose command is `command`. */
function cloneWith(command: string, compiler = 'exit 0'): FreshClone {
  const clone = new FreshClone()
  clone.write('packages/cli/package.json', '{ "type": "module" }')
  clone.write('packages/cli/tsconfig.json', '{}')
  clone.write('packages/cli/lib/bin.js', command)
  clone.program('node_modules/.bin/tsc', `#!/bin/sh\n${compiler}\n`)
  return clone
}

it('npm start installs, builds, and runs the command on the example app with a task of its own', async () => {
  using clone = cloneWith('console.log(JSON.stringify(process.argv.slice(1)), process.env.OPENAI_MODEL)', 'echo "tsc $*"')
  const { code, stdout, stderr } = await clone.run('start', [], { OPENAI_MODEL: 'a-model' }).ended
  expect(code).toBe(0)
  expect(stdout).toMatch(/^\["[^"]+\/bin\.js","run","-c","examples\/delegate\/cordis\.yml","\w[^"]+"\] a-model\n$/)
  expect(stderr).toMatch(/^Installing .*\ntsc -b packages\/cli\n$/)
})

it('npm start takes the words after -- as the task, and ends as the command does', async () => {
  using clone = cloneWith('console.log(JSON.stringify(process.argv.slice(2))); process.exitCode = 3')
  const { code, stdout } = await clone.run('start', ['count', 'the files']).ended
  expect(JSON.parse(stdout)).toEqual(['run', '-c', config, 'count', 'the files'])
  expect(code).toBe(3)
})

it('npm start lets the command end on a signal in its own way', async () => {
  using clone = cloneWith(`
    import { writeFileSync } from 'node:fs'
    process.once('SIGTERM', () => { console.log('cleaned up'); process.exit(143) })
    setInterval(() => {}, 1000)
    writeFileSync('ready', '')
  `)
  const start = clone.run('start', [])
  await expect.poll(() => clone.exists('ready')).toBe(true)
  start.stop('SIGTERM')
  expect(await start.ended).toMatchObject({ code: 143, stdout: 'cleaned up\n' })
})

it('npm start does not run what does not build', async () => {
  using clone = cloneWith('console.log("ran")', 'echo "src/index.ts(1,1): error"; exit 2')
  const { code, stdout, stderr } = await clone.run('start', []).ended
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain('src/index.ts(1,1): error')
  expect(clone.exists(join('node_modules', '.offshoot-build.lock'))).toBe(false)
})
