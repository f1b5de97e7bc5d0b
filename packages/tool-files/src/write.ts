import { defineTool, type Tool, Type } from '@offshoot/tools'
import { replaceFile } from './replace.ts'
import type { Turns } from './turns.ts'
import { Workdir } from './workdir.ts'

export function writeFileTool(turns: Turns): Tool {
  return defineTool({
    name: 'write_file',
    description: 'Write a whole file: a new one, with its parent folders, or all of an existing one. Use edit_file to change a part.',
    parameters: Type.Object({
      path: Type.String({ minLength: 1, description: 'Path in the working directory.' }),
      content: Type.String({ description: 'All that the file will hold.' }),
    }),
    effect: 'write',
    async execute({ path, content }, exec) {
      const workdir = await Workdir.of('write_file', exec)
      const real = await workdir.resolveForWriting(path)
      const existed = await turns.take(real, () => replaceFile(workdir, real, content))
      return `${existed ? 'replaced' : 'created'} ${workdir.show(real)} (${Buffer.byteLength(content)} bytes)`
    },
  })
}
