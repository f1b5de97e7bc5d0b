import { describe, it } from 'vitest'
import { assertDealtWith } from './fault-cells.ts'
import { faults, situationsOf } from './faults.ts'

for (const fault of faults) {
  describe(`an agent that ${fault.name}`, () => {
    it.each(situationsOf(fault).filter(situation => situation !== 'host exit'))('is dealt with: %s', async situation => {
      await assertDealtWith(fault, situation)
    })
  })
}
