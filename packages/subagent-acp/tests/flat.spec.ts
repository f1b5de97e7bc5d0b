import { expect, it } from 'vitest'
import { checkFlat } from './flat.ts'

it('children in sequence and at once leave descriptors, listeners and records as they were', async () => {
  await expect(checkFlat(8, 4)).resolves.toBeTypeOf('number')
})
