import type { Context } from 'cordis'
import type { Entry } from './entry.ts'
import { evaluate } from './evaluate.ts'
import type { Findings } from './findings.ts'
import type { Mount, Mounter } from './mount.ts'
import { importing, loadPlugin, PluginError } from './plugin.ts'
import { servicesOfPackage, servicesOfPlugin } from './provides.ts'
import { isPath, ResolveError, type Resolver } from './resolve.ts'
import type { LoadOptions } from './types.ts'
import { validate } from './validate.ts'

/** Turns entries into mounts: evaluates, resolves, imports and validates each, before any of them runs. */
export class Preparation {
  /** Services that entries which cannot run would have provided. */
  readonly lost = new Set<string>()
  /** Entries whose module is being imported. */
  readonly importing = new Set<Entry>()
  private readonly ctx: Context
  private readonly resolver: Resolver
  private readonly mounter: Mounter
  private readonly findings: Findings
  private readonly modules: LoadOptions['modules']

  /** `ctx` is in scope of the expressions. */
  constructor(ctx: Context, resolver: Resolver, mounter: Mounter, findings: Findings, modules?: LoadOptions['modules']) {
    this.ctx = ctx
    this.resolver = resolver
    this.mounter = mounter
    this.findings = findings
    this.modules = modules
  }

  /** The entries that can run; what is wrong with the others goes to the findings. */
  async prepareAll(entries: readonly Entry[]): Promise<Mount[]> {
    const mounts = await Promise.all(entries.map(entry => this.prepare(entry)))
    return mounts.filter(mount => mount !== undefined)
  }

  private async prepare(entry: Entry): Promise<Mount | undefined> {
    const { value: disabled, faults } = evaluate(this.ctx, 'disabled', entry.disabled)
    for (const { message, error } of faults) this.findings.addToEntry(entry, message, error)
    if (disabled) return undefined
    if (entry.children) return this.mounter.group(entry, await this.prepareAll(entry.children))
    try {
      return await this.preparePlugin(entry)
    } catch (error) {
      if (!(error instanceof ResolveError) && !(error instanceof PluginError)) throw error
      if (error instanceof ResolveError && error.meant) this.lose(servicesOfPackage(error.meant))
      this.findings.addToEntry(entry, error.message, error.cause)
      return undefined
    }
  }

  private async preparePlugin(entry: Entry): Promise<Mount | undefined> {
    const { name } = entry
    const atHand = this.modules?.get(name)
    const load = atHand && this.resolver.isShared(name) ? atHand : importing(this.resolver.resolve(name))
    const ofPackage = (): URL | undefined => isPath(name) ? undefined : this.resolver.find(name)
    this.importing.add(entry)
    const plugin = await loadPlugin(load).catch((error: unknown) => {
      const url = ofPackage()
      if (url) this.lose(servicesOfPackage(url))
      throw error
    }).finally(() => this.importing.delete(entry))
    const services = () => servicesOfPlugin(plugin, ofPackage())
    const { value: config, unset, faults } = evaluate(this.ctx, 'config', entry.config)
    for (const { message, error } of faults) this.findings.addToEntry(entry, message, error)
    const { usable, problems } = faults.length ? { usable: false, problems: [] } : validate(plugin.Config, config, unset)
    for (const message of problems) this.findings.addToEntry(entry, message)
    if (usable) return { entry, plugin, config, services, children: [] }
    this.lose(services())
    return undefined
  }

  private lose(services: Iterable<string>): void {
    for (const service of services) this.lost.add(service)
  }
}
