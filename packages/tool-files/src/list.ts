import { defineTool, type Tool, Type } from '@offshoot/tools'
import { lstat } from 'node:fs/promises'
import { explain, FileError } from './error.ts'
import type { Limits } from './limits.ts'
import { leftOut, walk } from './walk.ts'
import { Workdir } from './workdir.ts'

export function listFilesTool(limits: Limits): Tool {
  return defineTool({
    name: 'list_files',
    description: `List files in a folder and the folders in it, sorted, as paths relative to the working directory.${leftOut(limits.ignore)}`,
    parameters: Type.Object({
      path: Type.Optional(Type.String({ minLength: 1, description: 'Folder to list. Default: the working directory.' })),
      pattern: Type.Optional(Type.String({ minLength: 1, description: 'Glob relative to that folder, as src/**/*.ts; without a / it goes for file names in every folder, as *.md.' })),
    }),
    concurrency: 'parallel',
    effect: 'read',
    async execute({ path = '.', pattern }, exec) {
      const workdir = await Workdir.of('list_files', exec)
      const folder = await workdir.resolve(path)
      const prefix = await folderPrefix(workdir, folder, path)
      const shown: string[] = []
      let count = 0
      for await (const found of walk(folder, { ignore: limits.ignore, glob: pattern, signal: exec.signal })) {
        if (++count <= limits.maxEntries) shown.push(`${prefix}${found.path}`)
      }
      if (count === 0) return 'no files found'
      if (count > shown.length) shown.push(`[${shown.length} of ${count} files shown; narrow it with path or pattern]`)
      return shown.join('\n')
    },
  })
}

/** What comes before paths relative to `folder` to make them relative to the working directory. */
async function folderPrefix(workdir: Workdir, folder: string, path: string): Promise<string> {
  try {
    if (!(await lstat(folder)).isDirectory()) throw new FileError('NOT_A_FOLDER', `"${path}" is not a folder`)
  } catch (error) {
    throw explain(error, path)
  }
  return folder === workdir.root ? '' : `${workdir.show(folder)}/`
}
