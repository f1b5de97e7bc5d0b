import { defineTool, type Tool, Type } from '@offshoot/tools'
import { FileError } from './error.ts'
import type { Limits } from './limits.ts'
import { replaceFile } from './replace.ts'
import { substitute } from './substitute.ts'
import { readText } from './text.ts'
import type { Turns } from './turns.ts'
import { Workdir } from './workdir.ts'

export function editFileTool(limits: Limits, turns: Turns): Tool {
  return defineTool({
    name: 'edit_file',
    description: 'Replace text in a file. old_text must match the file exactly, whitespace included, and occur once unless replace_all is set.',
    parameters: Type.Object({
      path: Type.String({ minLength: 1, description: 'Path in the working directory.' }),
      old_text: Type.String({ description: 'Text to replace, with enough around it to occur only once.' }),
      new_text: Type.String({ description: 'Text to put in its place.' }),
      replace_all: Type.Optional(Type.Boolean({ description: 'Replace every occurrence. Default false.' })),
    }),
    effect: 'write',
    async execute({ path, old_text: oldText, new_text: newText, replace_all: all = false }, exec) {
      if (oldText === '') throw new FileError('INVALID_ARGUMENT', 'old_text is empty; give the text to replace, or use write_file for a whole file')
      if (oldText === newText) throw new FileError('INVALID_ARGUMENT', 'old_text and new_text are the same; there is nothing to change')
      const workdir = await Workdir.of('edit_file', exec)
      const real = await workdir.resolveForWriting(path)
      const shown = workdir.show(real)
      return turns.take(real, async () => {
        const file = await workdir.open(real)
        let text: string
        try {
          text = await readText(file, shown, limits.maxFileBytes)
        } finally {
          await file.close()
        }
        const { edited, count } = substitute(text, oldText, newText)
        if (count === 0) {
          throw new FileError('NO_MATCH', `old_text does not occur in "${shown}" (0 occurrences); it must match exactly, whitespace included: read the file again`)
        }
        if (count > 1 && !all) {
          throw new FileError('AMBIGUOUS', `old_text occurs ${count} times in "${shown}"; add text around it until it occurs once, or set replace_all`)
        }
        await replaceFile(workdir, real, edited)
        return `replaced ${count} ${count === 1 ? 'occurrence' : 'occurrences'} in ${shown}`
      })
    },
  })
}
