import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FreshClone } from './fresh-clone.ts'

const install = 'pnpm install --frozen-lockfile --config.confirm-modules-purge=false'
const untilOpened = { THEN: 'read line < "$CLONE/gate"' }

describe('scripts/setup.mjs', () => {
  it('installs what the lockfile says, in one line, and is silent once all is there', async () => {
    using clone = new FreshClone()
    expect(await clone.setup().ended).toEqual({ code: 0, stdout: '', stderr: expect.stringMatching(/^Installing dependencies with pnpm \S+ …\n$/) as string })
    expect(await clone.setup().ended).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(clone.calls).toEqual([install])
  })

  it.each(['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'packages/a/package.json', 'packages/b/package.json'])('installs again when %s is another one', async file => {
    using clone = new FreshClone()
    await clone.setup().ended
    clone.write(file, 'packages:\n  - packages/*\n\n')
    await clone.setup().ended
    expect(clone.calls).toEqual([install, install])
  })

  it('takes the pinned pnpm from npm where the one on PATH has another version', async () => {
    using clone = new FreshClone({ pnpmVersion: '9.0.0' })
    await clone.setup().ended
    expect(clone.calls).toEqual([expect.stringMatching(/^npx --yes --prefer-offline pnpm@\S+ install --frozen-lockfile /)])
  })

  it('passes a failure on, with the last lines that the installer said, and tries again the next time', async () => {
    using clone = new FreshClone()
    const { code, stderr } = await clone.setup({ THEN: 'seq 1 100; echo no such package >&2; exit 7' }).ended
    expect(code).toBe(1)
    expect(stderr).toMatch(/^Installing .*\n62\n(?:\d+\n)*100\nno such package\nInstalling the dependencies failed \(pnpm ended with 7\)\.\n$/)
    expect(await clone.setup().ended).toMatchObject({ code: 0 })
    expect(clone.calls).toEqual([install, install])
  })

  it('hides from the installer what a runner set for itself, and keeps how to reach the network', async () => {
    using clone = new FreshClone()
    await clone.setup({ THEN: 'env > "$CLONE/env"', npm_config_user_agent: 'x', npm_config_loglevel: 'silent', npm_lifecycle_event: 'test', npm_config_registry: 'http://127.0.0.1', HOME: '/nowhere' }).ended
    const names = readFileSync(join(clone.dir, 'env'), 'utf8').split('\n').map(line => line.split('=')[0]!)
    expect(names.filter(name => /^(npm_|HOME)/.test(name)).sort()).toEqual(['HOME', 'npm_config_registry'])
  })

  it('installs once when two run at once', async () => {
    using clone = new FreshClone()
    const first = clone.setup(untilOpened)
    await expect.poll(() => clone.calls).toEqual([install])
    const second = clone.setup(untilOpened)
    await expect.poll(() => clone.exists(`node_modules/.offshoot-setup.lock.${second.pid}`)).toBe(true)
    clone.open()
    expect(await Promise.all([first.ended, second.ended])).toEqual([
      { code: 0, stdout: '', stderr: expect.stringContaining('Installing') as string },
      { code: 0, stdout: '', stderr: '' },
    ])
    expect(clone.calls).toEqual([install])
    expect(clone.exists('node_modules/.offshoot-setup.lock')).toBe(false)
  })

  it('does not wait for a process that is gone', async () => {
    using clone = new FreshClone()
    clone.write(`node_modules/.offshoot-setup.lock/${spawnSync('true').pid}`, '')
    expect(await clone.setup().ended).toMatchObject({ code: 0 })
    expect(clone.exists('node_modules/.offshoot-setup.lock')).toBe(false)
  })

  it('ends the installer when it is ended, and leaves the way free for the next', async () => {
    using clone = new FreshClone()
    const setup = clone.setup({ THEN: 'echo $$ > "$CLONE/pid"; read line < "$CLONE/gate"' })
    await expect.poll(() => clone.exists('pid') && readFileSync(join(clone.dir, 'pid'), 'utf8')).toMatch(/^\d+\n$/)
    setup.stop('SIGTERM')
    expect((await setup.ended).code).toBe(143)
    const installer = Number(readFileSync(join(clone.dir, 'pid'), 'utf8'))
    expect(() => process.kill(installer, 0)).toThrow('ESRCH')
    expect(clone.exists('node_modules/.offshoot-setup.lock')).toBe(false)
    expect(await clone.setup().ended).toMatchObject({ code: 0 })
  })

  it('says which Node it needs on one that is too old', async () => {
    using clone = new FreshClone()
    clone.write('package.json', JSON.stringify({ engines: { node: '>=99.1' }, packageManager: 'pnpm@1.0.0' }))
    expect(await clone.setup().ended).toEqual({ code: 1, stdout: '', stderr: `Offshoot needs Node >=99.1; this is Node ${process.versions.node}.\n` })
    expect(clone.calls).toEqual([])
  })
})
