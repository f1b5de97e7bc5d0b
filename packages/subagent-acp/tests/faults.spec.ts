import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { assertDealtWith } from './fault-cells.ts'
import { faults, sample } from './faults.ts'

// Every fault in every situation: `npm run test:slow`.
for (const [name, situations] of Object.entries(sample)) {
  describe(`an agent that ${name}`, () => {
    it.each(situations)('is dealt with: %s', async situation => {
      const fault = faults.find(each => each.name === name)
      assert.ok(fault)
      await assertDealtWith(fault, situation)
    })
  })
}
