import { defineTool, type SpillStore, type Tool, type ToolExec, Type } from '@offshoot/tools'
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { FileError } from './error.ts'
import type { Limits } from './limits.ts'
import { readWindow } from './window.ts'
import { Workdir } from './workdir.ts'

const spillPrefix = 'spill:'

export function readFileTool(limits: Limits, spills: SpillStore): Tool {
  return defineTool({
    name: 'read_file',
    description: 'Read a text file. A long file comes in parts: the last line of each says how to read on.',
    parameters: Type.Object({
      path: Type.String({ minLength: 1, description: 'Path in the working directory, or spill:<id> for tool output that was cut.' }),
      offset: Type.Optional(Type.Integer({ minimum: 1, description: 'First line to read, from 1.' })),
      limit: Type.Optional(Type.Integer({ minimum: 1, description: 'How many lines to read.' })),
      column: Type.Optional(Type.Integer({ minimum: 1, description: 'Byte of the first line to begin at, from 1. Only for a line that was cut.' })),
    }),
    concurrency: 'parallel',
    effect: 'read',
    async execute({ path, offset = 1, limit = Infinity, column = 1 }, exec) {
      const { file, shown } = await openSource(path, exec, spills)
      try {
        return await readWindow(file, shown, {
          offset, column, maxBytes: limits.maxReadBytes, maxLines: Math.min(limit, limits.maxReadLines),
          asIs: path.startsWith(spillPrefix),
        }, exec.signal)
      } finally {
        await file.close()
      }
    },
  })
}

async function openSource(path: string, exec: ToolExec, spills: SpillStore): Promise<{ file: FileHandle, shown: string }> {
  const workdir = await Workdir.of('read_file', exec)
  if (!path.startsWith(spillPrefix)) {
    const real = await workdir.resolve(path)
    return { file: await workdir.open(real), shown: workdir.show(real) }
  }
  const spilled = spills.path(path.slice(spillPrefix.length))
  if (spilled === undefined) {
    throw new FileError('NOT_FOUND', `there is no "${path}": spills go by the id in the sentence that says what was cut, and last as long as the app`)
  }
  return { file: await open(spilled, constants.O_RDONLY | constants.O_NOFOLLOW), shown: path }
}
