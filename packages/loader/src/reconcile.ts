import { isDeepStrictEqual } from 'node:util'
import type { Entry } from './entry.ts'
import type { Mount } from './mount.ts'
import type { ReloadResult } from './types.ts'

/** Where a mount stands, or is to stand, in the app. */
export interface Place {
  readonly mount: Mount
  readonly entry: Entry
  readonly children: readonly Place[]
}

/** What stands where now. */
export function placesOf(mounts: readonly Mount[]): Place[] {
  return mounts.map(mount => ({ mount, entry: mount.entry, children: placesOf(mount.children) }))
}

/** All places, those within others included, in the order of the file. */
export function flattenPlaces(places: readonly Place[]): Place[] {
  return places.flatMap(place => [place, ...flattenPlaces(place.children)])
}

/**
 * Compares what runs with what the file says now. What is the same keeps its mount, at its new place.
 *
 * @param spent mounts that have to be replaced even so
 */
export function reconcile(running: readonly Mount[], wanted: readonly Mount[], spent: ReadonlySet<Mount>): { places: Place[], changes: ReloadResult } {
  const added: string[] = []
  const restarted: string[] = []
  const removed: string[] = []
  const places = compare(running, wanted)
  // An entry that moved into a group, or out of one.
  const moved = new Set(added.filter(id => removed.includes(id)))
  const without = (ids: readonly string[]) => ids.filter(id => !moved.has(id))
  return { places, changes: { added: without(added), restarted: [...restarted, ...moved], removed: without(removed) } }

  function compare(before: readonly Mount[], after: readonly Mount[]): Place[] {
    const pairs = pair(before, after)
    const paired = new Set(pairs.values())
    removed.push(...before.filter(mount => !paired.has(mount)).map(({ entry }) => entry.id))
    return after.map((mount) => {
      const { entry, children } = mount
      const old = pairs.get(mount)
      if (old && isSame(old, mount) && !spent.has(old)) return { mount: old, entry, children: compare(old.children, children) }
      if (old) restarted.push(entry.id)
      else added.push(entry.id)
      return { mount, entry, children: placesOf(children) }
    })
  }
}

/**
 * Which mount of `before` each of `after` continues. An id says so; of the entries that go by their name alone, those
 * that are the same belong together, and the others in their order.
 */
function pair(before: readonly Mount[], after: readonly Mount[]): Map<Mount, Mount> {
  const pairs = new Map<Mount, Mount>()
  const free = new Set(before)
  for (const belongs of [isSame, isAlike]) {
    for (const mount of after) {
      const old = pairs.has(mount) ? undefined : [...free].find(other => isAlike(other, mount) && belongs(other, mount))
      if (!old) continue
      pairs.set(mount, old)
      free.delete(old)
    }
  }
  return pairs
}

function isAlike({ entry: a }: Mount, { entry: b }: Mount): boolean {
  return a.hasOwnId || b.hasOwnId ? a.hasOwnId && b.hasOwnId && a.id === b.id : a.name === b.name
}

/** Whether two mounts run the same in the same surroundings; of groups, whatever they contain. */
function isSame(a: Mount, b: Mount): boolean {
  const isGroup = a.entry.children !== undefined
  if (isGroup !== (b.entry.children !== undefined) || !isGroup && a.plugin !== b.plugin) return false
  return a.entry.name === b.entry.name && isDeepStrictEqual(surroundings(a), surroundings(b))
}

function surroundings({ config, entry: { inject, isolate, intercept } }: Mount): unknown {
  return { config, inject, isolate, intercept }
}
