import type { ToolCall, ToolCallContent, ToolCallLocation, ToolKind } from '@agentclientprotocol/sdk'
import type { Tool, ToolEffect } from '@offshoot/tools'
import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'

const titleCharacters = 120
/** A diff of a larger file says less than it costs. */
const maxDiffBytes = 256 * 1024

const kinds: Record<ToolEffect, ToolKind> = { read: 'read', write: 'edit', execute: 'execute' }

export interface CallDescription extends Required<Pick<ToolCall, 'title' | 'kind' | 'locations'>> {
  readonly content: ToolCallContent[]
}

/** What a call is to a person: a title, a kind, the files that it is about, and for a change what it will change. */
export function describeCall(name: string, args: Readonly<Record<string, unknown>>, tool: Pick<Tool, 'effect'> | undefined, cwd: string): CallDescription {
  const path = typeof args['path'] === 'string' ? resolve(cwd, args['path']) : undefined
  const isText = path !== undefined && tool?.effect !== undefined && !String(args['path']).startsWith('spill:')
  return {
    title: titleOf(name, args),
    kind: kindOf(name, tool),
    locations: isText ? [location(path, args['offset'])] : [],
    content: isText && tool.effect === 'write' ? diffOf(path, args) : [],
  }
}

function titleOf(name: string, args: Readonly<Record<string, unknown>>): string {
  const { description, command, path, pattern, query } = args
  const words = [description, command, pattern ?? query, path].find(value => typeof value === 'string' && value.trim() !== '')
  const text = typeof words === 'string' ? words.replace(/\s+/g, ' ').trim() : ''
  const characters = [...text]
  return text === '' ? name : `${name}: ${characters.length > titleCharacters ? `${characters.slice(0, titleCharacters - 1).join('')}…` : text}`
}

function kindOf(name: string, tool: Pick<Tool, 'effect'> | undefined): ToolKind {
  if (/^(?:search|list|find|grep)/.test(name)) return 'search'
  if (/^(?:task_|subagent)/.test(name)) return 'other'
  return tool?.effect ? kinds[tool.effect] : 'other'
}

function location(path: string, offset: unknown): ToolCallLocation {
  return typeof offset === 'number' && offset > 0 ? { path, line: offset } : { path }
}

/** What the call would change: all of a file that is written, or the part that is replaced. */
function diffOf(path: string, { content, old_text: oldText, new_text: newText }: Readonly<Record<string, unknown>>): ToolCallContent[] {
  if (typeof content === 'string') {
    const before = textOf(path)
    return before === undefined ? [{ type: 'diff', path, newText: content }] : [{ type: 'diff', path, oldText: before, newText: content }]
  }
  return typeof oldText === 'string' && typeof newText === 'string' ? [{ type: 'diff', path, oldText, newText }] : []
}

function textOf(path: string): string | undefined {
  try {
    const stats = statSync(path)
    return stats.isFile() && stats.size <= maxDiffBytes ? readFileSync(path, 'utf8') : undefined
  } catch {
    return undefined
  }
}
