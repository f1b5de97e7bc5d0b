import { cutToWidth } from './display-width.ts'
import { liveLine, type LiveNode } from './live-line.ts'
import type { ScreenSize } from './live-screen.ts'
import { branches } from './tree.ts'

/**
 * A tree, one node a line, in one row less than there are: the cursor stands in that. Where they are too few, starts that
 * wait are left out before runs that work, and the last line counts what is left out.
 */
export function liveLines(root: LiveNode, { columns, rows }: ScreenSize): string[] {
  const most = Math.max(0, rows - 1)
  const below = preorder(root)
  const fits = below.length + 1 <= most
  const kept = fits ? new Set(below) : worthiest(root, most - 2)
  const lines = [liveLine(root, columns), ...branches(pruned(root, kept), (node, indent) => liveLine(node, columns, indent))]
  if (!fits) lines.push(cutToWidth(leftOut(below.filter(node => !kept.has(node))), columns))
  return lines.slice(0, most)
}

function leftOut(nodes: readonly LiveNode[]): string {
  const queued = nodes.filter(({ isQueued }) => isQueued).length
  return `… and ${nodes.length} more${queued === 0 ? '' : queued === nodes.length ? ', queued' : `, ${queued} of them queued`}`
}

/** At most `room` nodes below `root`, each with those it is below: first those that work. */
function worthiest(root: LiveNode, room: number): Set<LiveNode> {
  const kept = new Set<LiveNode>()
  const visit = (node: LiveNode, above: readonly LiveNode[], queued: boolean): void => {
    const line = [...above, node]
    if (node.isQueued === queued) {
      const missing = line.filter(each => !kept.has(each))
      if (kept.size + missing.length <= room) for (const each of missing) kept.add(each)
    }
    for (const child of node.children) visit(child, line, queued)
  }
  for (const queued of [false, true]) for (const child of root.children) visit(child, [], queued)
  return kept
}

function pruned({ children }: LiveNode, kept: ReadonlySet<LiveNode>): LiveNode[] {
  return children.filter(child => kept.has(child)).map(child => ({ ...child, children: pruned(child, kept) }))
}

function preorder({ children }: LiveNode): LiveNode[] {
  return children.flatMap(child => [child, ...preorder(child)])
}
