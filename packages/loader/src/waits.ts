import type { Fiber } from 'cordis'
import { nearest } from '@offshoot/problems'
import { quoteList } from './describe.ts'
import { type Entry, labelEntry } from './entry.ts'
import type { Mount } from './mount.ts'

/** What is known of the services of an app that has settled. */
export interface Surroundings {
  /** Services that entries which failed would have provided: waiting for one is no problem of its own. */
  readonly lost: ReadonlySet<string>
  /** Names of the services that are there, in any scope. */
  readonly present: ReadonlySet<string>
  /** Packages that provide a service and could be added. */
  readonly providersOf: (service: string) => readonly string[]
  readonly where: (entry: Entry) => string
}

export interface Wait {
  readonly mount: Mount
  readonly fiber: Fiber
}

interface Explained {
  readonly mount: Mount
  readonly fiber: Fiber
  readonly message: string
}

interface Edge {
  readonly service: string
  readonly to: Mount
}

/** Why the entries that wait do: services that nobody provides, and circles. What merely follows from those is left out. */
export function explainWaits(waits: readonly Wait[], around: Surroundings): Explained[] {
  const edges = new Map<Mount, Edge[]>()
  const explained: Explained[] = []
  for (const { mount, fiber } of waits) {
    const absent: string[] = []
    for (const service of missingServices(fiber)) {
      const to = waits.find(other => other.mount.services().has(service) && (other.mount !== mount || fiber === mount.fiber))?.mount
      if (around.lost.has(service)) continue
      if (to) edges.set(mount, [...edges.get(mount) ?? [], { service, to }])
      else absent.push(service)
    }
    if (absent.length) explained.push({ mount, fiber, message: describeAbsent(absent, around) })
  }
  const inCircle = new Set<Mount>()
  for (const { mount, fiber } of waits) {
    const circle = inCircle.has(mount) ? undefined : findCircle(mount, edges)
    if (!circle) continue
    for (const { to } of circle) inCircle.add(to)
    explained.push({ mount, fiber, message: describeCircle(circle, around) })
  }
  return explained
}

function missingServices(fiber: Fiber): string[] {
  const names = Object.keys(fiber.inject)
  const missing = names.filter(name => fiber.ctx.get(name) === undefined)
  // A service may be there and refuse this plugin.
  return missing.length ? missing : names
}

function describeAbsent(services: readonly string[], around: Surroundings): string {
  const one = services.length === 1
  const hints = services.flatMap(service => hint(service, one, around) ?? [])
  return `waits for service${one ? '' : 's'} ${quoteList(services)}: no loaded plugin provides ${one ? 'it' : 'them'}${hints.map(text => `; ${text}`).join('')}`
}

function hint(service: string, alone: boolean, { present, providersOf }: Surroundings): string | undefined {
  if (present.has(service)) return `"${service}" is provided in another scope ("isolate")`
  const packages = providersOf(service)
  if (packages.length) return `package ${quoteList(packages, 'or')} provides ${alone ? 'it' : `"${service}"`}`
  const near = nearest(service, present)
  return near && `${alone ? '' : `for "${service}" `}did you mean "${near}"?`
}

/** The shortest way from an entry back to itself. */
function findCircle(start: Mount, edges: ReadonlyMap<Mount, readonly Edge[]>): Edge[] | undefined {
  const seen = new Set<Mount>()
  let paths: Edge[][] = (edges.get(start) ?? []).map(edge => [edge])
  while (paths.length) {
    const closed = paths.find(path => path.at(-1)!.to === start)
    if (closed) return closed
    paths = paths.flatMap((path) => {
      const { to } = path.at(-1)!
      if (seen.has(to)) return []
      seen.add(to)
      return (edges.get(to) ?? []).map(edge => [...path, edge])
    })
  }
  return undefined
}

function describeCircle(circle: readonly Edge[], { where }: Surroundings): string {
  if (circle.length === 1) return `waits for service "${circle[0]!.service}", which it provides itself; it must not inject it`
  const steps = circle.map(({ service, to }, index) => index === circle.length - 1
    ? `service "${service}", which this entry provides`
    : `service "${service}" of ${labelEntry(to.entry)} at ${where(to.entry)}`)
  return `waits in a circle for ${steps.join(', which waits for ')}; one of them must not inject the other`
}
