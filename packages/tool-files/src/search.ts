import { defineTool, type Tool, Type } from '@offshoot/tools'
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { explain, FileError } from './error.ts'
import type { Limits } from './limits.ts'
import { matchLines } from './match.ts'
import { looksBinary } from './text.ts'
import { leftOut, walk, type WalkOptions } from './walk.ts'
import { Workdir } from './workdir.ts'

const readAtOnce = 8
const namedFiles = 3

/** What a file holds for a search. */
type Content = { readonly text: string } | 'binary' | 'large' | 'unreadable'

export function searchFilesTool(limits: Limits): Tool {
  return defineTool({
    name: 'search_files',
    description: `Search text files for lines that match a regular expression. Answers file:line: text.${leftOut(limits.ignore)}`,
    parameters: Type.Object({
      pattern: Type.String({ minLength: 1, description: 'JavaScript regular expression, matched against each line.' }),
      path: Type.Optional(Type.String({ minLength: 1, description: 'Folder or file to search. Default: the working directory.' })),
      glob: Type.Optional(Type.String({ minLength: 1, description: 'Only files that match this glob, as *.ts or src/**/*.ts.' })),
      ignore_case: Type.Optional(Type.Boolean({ description: 'Default false.' })),
    }),
    concurrency: 'parallel',
    effect: 'read',
    async execute({ pattern, path = '.', glob, ignore_case: ignoreCase = false }, exec) {
      const regex = compile(pattern, ignoreCase)
      const search = new Search(await Workdir.of('search_files', exec), regex, limits)
      await search.run(path, { ignore: limits.ignore, glob, signal: exec.signal })
      return search.answer()
    },
  })
}

class Search {
  private readonly workdir: Workdir
  private readonly regex: RegExp
  private readonly limits: Limits
  private readonly lines: string[] = []
  private readonly large: string[] = []
  private more = false

  constructor(workdir: Workdir, regex: RegExp, limits: Limits) {
    this.workdir = workdir
    this.regex = regex
    this.limits = limits
  }

  async run(path: string, options: WalkOptions): Promise<void> {
    const start = await this.workdir.resolve(path)
    const stats = await lstat(start).catch(error => { throw explain(error, path) })
    if (!stats.isDirectory()) {
      this.match(start, await this.read(start))
      return
    }
    let batch: string[] = []
    for await (const found of walk(start, options)) {
      if (found.isLink || batch.push(join(start, found.path)) < readAtOnce) continue
      await this.matchAll(batch)
      if (this.more) return
      options.signal?.throwIfAborted()
      batch = []
    }
    await this.matchAll(batch)
  }

  answer(): string {
    const { lines, large, limits: { maxFileBytes } } = this
    const answer = lines.length > 0 ? [...lines] : ['no matches']
    if (this.more) answer.push(`[the first ${lines.length} matching lines; there are more: narrow it with pattern, path or glob]`)
    if (large.length > 0) {
      const more = large.length > namedFiles ? ` and ${large.length - namedFiles} more` : ''
      answer.push(`[not searched, being over ${maxFileBytes} bytes: ${large.slice(0, namedFiles).join(', ')}${more}]`)
    }
    return answer.join('\n')
  }

  private async matchAll(batch: readonly string[]): Promise<void> {
    // Some may have gone since they were listed, and some are not ours to read.
    const contents = await Promise.all(batch.map(real => this.read(real).catch(() => 'unreadable' as const)))
    for (const [at, content] of contents.entries()) if (!this.more) this.match(batch[at]!, content)
  }

  private async read(real: string): Promise<Content> {
    const file = await this.workdir.open(real)
    try {
      const { size } = await file.stat()
      if (size > this.limits.maxFileBytes) return 'large'
      const bytes = await file.readFile()
      return looksBinary(bytes) ? 'binary' : { text: bytes.toString('utf8') }
    } finally {
      await file.close()
    }
  }

  private match(real: string, content: Content): void {
    const shown = this.workdir.show(real)
    if (content === 'large') this.large.push(shown)
    if (typeof content === 'string') return
    const room = this.limits.maxMatches - this.lines.length
    const found = matchLines(content.text, this.regex, room + 1)
    this.more = found.length > room
    for (const { line, excerpt } of found.slice(0, room)) this.lines.push(`${shown}:${line}: ${excerpt}`)
  }
}

function compile(pattern: string, ignoreCase: boolean): RegExp {
  try {
    return new RegExp(pattern, ignoreCase ? 'i' : '')
  } catch (error) {
    throw new FileError('INVALID_ARGUMENT', `the pattern is not a JavaScript regular expression: ${(error as Error).message.slice(0, 200)}`, { cause: error })
  }
}
