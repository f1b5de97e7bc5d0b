import { expect, it } from 'vitest'
import { checkFlat } from './flat.ts'

it('50 children in sequence and 8 at once leave descriptors, listeners, records and memory as they were', { timeout: 120_000 }, async () => {
  // One that is kept holds the streams of its process, and its wire: some 100 KB.
  expect(await checkFlat(50, 8)).toBeLessThan(20_000)
})
