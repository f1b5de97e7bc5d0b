import type { Context, Fiber, Plugin } from 'cordis'
import type { Entry } from './entry.ts'
import { isActive } from './fibers.ts'

/** An entry that is ready to run, and the fiber that runs it. */
export interface Mount {
  /** Follows the file: after a reload it is where the entry stands now. */
  entry: Entry
  /** What runs it: the entry's plugin, or one that mounts the entries of a group. */
  readonly plugin: Plugin
  readonly config: unknown
  /** The services it will provide, as far as that can be found out. */
  readonly services: () => ReadonlySet<string>
  children: readonly Mount[]
  fiber?: Fiber
}

/** Puts entries into the app, each under a context of its own, and knows which entry a fiber belongs to. */
export class Mounter {
  private readonly owners = new WeakMap<Context, Mount>()
  private readonly labels = new Map<string, symbol>()

  mount(parent: Context, mounts: readonly Mount[]): void {
    for (const mount of mounts) {
      const ctx = this.scope(parent, mount.entry)
      this.owners.set(ctx, mount)
      ctx.plugin(mount.plugin, mount.config)
    }
  }

  /** Mounts those that are not, also within groups that run. */
  complete(parent: Context, mounts: readonly Mount[]): void {
    for (const mount of mounts) {
      const { fiber, children } = mount
      if (!fiber || fiber.uid === null) this.mount(parent, [mount])
      // One that does not run mounts its children itself when it does.
      else if (isActive(fiber)) this.complete(fiber.ctx, children)
    }
  }

  /** A group runs as a plugin, so that an `inject` on it holds for what it contains. */
  group(entry: Entry, children: readonly Mount[]): Mount {
    const plugin: Plugin.Object = { name: 'group', apply: ctx => this.mount(ctx, mount.children) }
    const mount: Mount = { entry, plugin, config: undefined, services: () => new Set(), children }
    return mount
  }

  /** To be called for each fiber that starts to exist, before Cordis looks for the services it needs. */
  adopt(fiber: Fiber): void {
    const mount = this.owners.get(fiber.parent)
    if (!mount) return
    mount.fiber = fiber
    for (const name of Object.keys(mount.entry.inject)) fiber.inject[name] ??= null
  }

  /** The entry that a fiber belongs to, directly or as a plugin within a plugin. */
  ownerOf(fiber: Fiber): Mount | undefined {
    for (let current = fiber; current.runtime; current = current.parent.fiber) {
      const mount = this.owners.get(current.parent)
      if (mount) return mount
    }
    return undefined
  }

  private scope(parent: Context, entry: Entry): Context {
    let ctx = parent.extend()
    for (const [service, label] of Object.entries(entry.isolate)) {
      ctx = ctx.isolate(service, label === true ? Symbol(`${service}#${entry.id}`) : this.labelled(service, label))
    }
    for (const [service, config] of [...Object.entries(entry.intercept), ...Object.entries(entry.inject)]) {
      if (config !== null && config !== undefined) ctx = ctx.intercept(service, config)
    }
    return ctx
  }

  /** Entries that isolate a service under one label share it. */
  private labelled(service: string, label: string): symbol {
    const key = `${service}@${label}`
    const symbol = this.labels.get(key) ?? Symbol(key)
    this.labels.set(key, symbol)
    return symbol
  }
}

/** All entries, those of groups included, in the order of the file. */
export function flatten(mounts: readonly Mount[]): Mount[] {
  return mounts.flatMap(mount => [mount, ...flatten(mount.children)])
}
