import { describe, it } from 'vitest'
import { assertDealtWith } from './fault-cells.ts'
import { faults, situationsOf } from './faults.ts'

for (const fault of faults.filter(each => situationsOf(each).includes('host exit'))) {
  describe(`an agent that ${fault.name}`, () => {
    it('is dealt with: host exit', async () => {
      await assertDealtWith(fault, 'host exit')
    })
  })
}
