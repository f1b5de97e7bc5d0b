import type { ConformanceApp } from './app.ts'
import { endings } from './endings.ts'
import { lifecycle } from './lifecycle.ts'
import { limits } from './limits.ts'
import { structured } from './structured.ts'

/** One promise that every provider keeps. It throws where the provider does not. */
export interface ProviderPromise {
  readonly title: string
  check(app: ConformanceApp): Promise<void>
}

export const providerPromises: readonly ProviderPromise[] = [...lifecycle, ...endings, ...limits, ...structured]
