import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { assertNothingLives, deaf, endedOne, hostAtWork, loadNextTo, wellBehaved } from './host-ends.ts'

describe('a host that ends while its child works', () => {
  it.each(['exit', 'throw', 'unload'] as const)('takes along a deaf child, and what is the child\'s: %s', async how => {
    const host = await hostAtWork(deaf, how)
    await host.end()
    await assertNothingLives(host)
  })

  it.each(['SIGTERM', 'SIGKILL'] as const)('without a word ends a child that ends with its input: %s', async how => {
    const host = await hostAtWork(wellBehaved, how)
    await host.end()
    await assertNothingLives(host)
  })

  it.each(['SIGTERM', 'SIGKILL'] as const)('without a word leaves a deaf child to the next host: %s', async how => {
    const host = await hostAtWork(deaf, how)
    await host.end()
    expect(host.survivors()).toHaveLength(2)
    await loadNextTo(host, lines => lines.some(line => endedOne.test(line)))
    await assertNothingLives(host)
    await expect.poll(() => readdirSync(host.recordsDir)).toEqual([])
  })
})
