import { readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { assertNothingLives, deaf, endedOne, hostAtWork, loadNextTo, wellBehaved } from './host-ends.ts'

// Each way to end: `npm run test:slow`.
it('a host that exits takes its child along, also one that is deaf, and whose plugin was unloaded while it worked', async () => {
  const host = await hostAtWork(deaf, 'unload')
  await host.end()
  await assertNothingLives(host)
})

it('the next host that loads the plugin ends what one that was killed has left, says so, and leaves alone what a living one has', async () => {
  const gone = await hostAtWork(deaf, 'SIGKILL')
  const host = await hostAtWork(wellBehaved, 'SIGKILL', gone.dir)
  await gone.end()
  expect(gone.survivors()).toHaveLength(2)
  const logged = await loadNextTo(gone, lines => lines.some(line => endedOne.test(line)))
  await assertNothingLives(gone)
  expect(logged.filter(line => endedOne.test(line))).toHaveLength(1)
  await expect.poll(() => readdirSync(host.recordsDir)).toHaveLength(1)
  expect(host.survivors()).toHaveLength(1)
  // Its end of input is the child's, which ends with it.
  await host.end()
  await assertNothingLives(host)
})
