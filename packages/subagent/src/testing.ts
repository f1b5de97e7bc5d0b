import { describe, it } from 'vitest'
import { ConformanceApp, type ProviderHarness } from './conformance/app.ts'
import { providerPromises } from './conformance/promises.ts'

export type { ProviderHarness } from './conformance/app.ts'
export type { ChildBehaviour, ChildControl } from './conformance/children.ts'

/** A promise that a provider does not keep. */
export interface BrokenPromise {
  readonly title: string
  readonly error: unknown
}

/** The conformance suite as Vitest tests: a provider is finished when they pass. */
export function describeProvider(name: string, harness: ProviderHarness): void {
  describe(`${name} keeps the promises of a provider`, () => {
    for (const promise of providerPromises) {
      it(promise.title, async () => {
        await using app = await ConformanceApp.create(harness)
        await promise.check(app)
      })
    }
  })
}

/** The conformance suite without a test runner: which promises the provider does not keep. */
export async function checkProvider(harness: ProviderHarness): Promise<BrokenPromise[]> {
  const broken: BrokenPromise[] = []
  for (const promise of providerPromises) {
    try {
      await using app = await ConformanceApp.create(harness)
      await promise.check(app)
    } catch (error) {
      broken.push({ title: promise.title, error })
    }
  }
  return broken
}
