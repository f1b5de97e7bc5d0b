import { read } from './workspace.ts'

export interface CodeBlock {
  /** Relative to the checkout. */
  readonly file: string
  readonly language: string
  /** Where its first line of code is in the file, from 1. */
  readonly line: number
  readonly code: string
}

/** The fenced blocks of a Markdown file, with their language. */
export function codeBlocks(file: string): CodeBlock[] {
  const blocks: CodeBlock[] = []
  let open: { fence: string, indent: number, language: string, line: number, lines: string[] } | undefined
  for (const [index, text] of read(file).split('\n').entries()) {
    const [, indent = '', fence = '', language = ''] = /^( *)(`{3,})\s*([\w-]*)/.exec(text) ?? []
    if (!open) {
      if (fence) open = { fence, indent: indent.length, language, line: index + 2, lines: [] }
    } else if (fence.length >= open.fence.length && !language) {
      blocks.push({ file, language: open.language, line: open.line, code: open.lines.join('\n') })
      open = undefined
    } else {
      open.lines.push(text.slice(Math.min(open.indent, text.length - text.trimStart().length)))
    }
  }
  return blocks
}

/** Where its links lead, without the fragment; those to other hosts and to the file itself are left out. */
export function localLinks(file: string): string[] {
  const targets = Array.from(proseOf(file).matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g), match => match[1]!)
  return targets.filter(target => !/^(?:[a-z][a-z+.-]*:|#)/i.test(target)).map(target => decodeURI(target.replace(/#.*$/, '')))
}

/** The text of a Markdown file without its fenced blocks. */
function proseOf(file: string): string {
  return read(file).replace(/^( *)(`{3,})[^`\n]*\n[\s\S]*?^ *\2`*\s*$/gm, '')
}
