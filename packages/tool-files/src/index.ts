import type { Context } from 'cordis'
import z from 'schemastery'
import { editFileTool } from './edit.ts'
import type { Limits } from './limits.ts'
import { listFilesTool } from './list.ts'
import { readFileTool } from './read.ts'
import { searchFilesTool } from './search.ts'
import { hintBytes } from './window.ts'
import { Turns } from './turns.ts'
import { writeFileTool } from './write.ts'

export { FileError, type FileErrorCode } from './error.ts'
export type { Limits } from './limits.ts'

export const name = 'tool-files'
export const inject = ['tools']

export interface Config extends Limits {
  /** Offer only the tools that change nothing. */
  readOnly: boolean
}

export const Config: z<Partial<Config>, Config> = z.object({
  readOnly: z.boolean().default(false).description('Offer only read_file, list_files and search_files.'),
  maxReadBytes: z.natural().min(64).default(50_000).description('Bytes of one read_file answer.'),
  maxReadLines: z.natural().min(1).default(2000).description('Lines of one read_file answer.'),
  maxFileBytes: z.natural().min(1).default(10 * 1024 * 1024).description('Larger files are neither edited nor searched.'),
  maxEntries: z.natural().min(1).default(1000).description('Files that one list_files answer names.'),
  maxMatches: z.natural().min(1).default(200).description('Lines that one search_files answer shows.'),
  ignore: z.array(z.string()).default(['.git', 'node_modules']).description('Names of folders that listing and searching do not enter.'),
})

export function apply(ctx: Context, config: Config): void {
  const { tools } = ctx
  const turns = new Turns()
  const { output, spills } = tools.core
  const reading = [readFileTool({ ...config, maxReadBytes: Math.min(config.maxReadBytes, output.maxBytes() - hintBytes) }, spills), listFilesTool(config), searchFilesTool(config)]
  const writing = config.readOnly ? [] : [writeFileTool(turns), editFileTool(config, turns)]
  for (const tool of [...reading, ...writing]) tools.register(tool)
}
