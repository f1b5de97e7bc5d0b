import { listProcesses, type ProcessInfo } from './list.ts'

/** Whoever descends from process `pid`, at every depth, without itself. */
export function descendantsOf(pid: number, among: readonly ProcessInfo[] = listProcesses()): ProcessInfo[] {
  const byParent = new Map<number, ProcessInfo[]>()
  for (const each of among) {
    const siblings = byParent.get(each.parent)
    if (siblings) siblings.push(each)
    else byParent.set(each.parent, [each])
  }
  const found = new Set<ProcessInfo>()
  const visit = (parent: number): void => {
    for (const child of byParent.get(parent) ?? []) {
      if (found.has(child)) continue
      found.add(child)
      visit(child.pid)
    }
  }
  visit(pid)
  return [...found]
}
