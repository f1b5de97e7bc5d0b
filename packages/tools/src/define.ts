import { deepFreeze } from '@offshoot/session'
import { minOutputBytes } from './cap.ts'
import { ToolError } from './error.ts'
import { type TObject, TypeCompiler } from './bundled/typebox.ts'
import type { Tool, ToolDefinition } from './types.ts'

const validName = /^[a-zA-Z0-9_-]{1,64}$/
const reportedErrors = 5

/**
 * A tool from its definition. Its schema is compiled here, once.
 *
 * @throws {ToolError} `INVALID_TOOL` for a name that model endpoints do not accept, or a `maxOutputBytes` below 512.
 */
export function defineTool<S extends TObject>(definition: ToolDefinition<S>): Tool {
  const { name, description, parameters, concurrency = 'exclusive', effect } = definition
  if (!validName.test(name)) {
    throw new ToolError('INVALID_TOOL', `tool name "${name}" must be 1 to 64 letters, digits, "_" or "-"`)
  }
  const { maxOutputBytes } = definition
  if (maxOutputBytes !== undefined && !(maxOutputBytes >= minOutputBytes)) {
    throw new ToolError('INVALID_TOOL', `maxOutputBytes of tool "${name}" must be ${minOutputBytes} or more, not ${maxOutputBytes}`)
  }
  const compiled = TypeCompiler.Compile(parameters)
  return {
    name,
    concurrency,
    ...(effect ? { effect } : {}),
    ...(maxOutputBytes === undefined ? {} : { maxOutputBytes }),
    spec: Object.freeze({
      type: 'function' as const, name, description,
      // TypeBox marks its schemas with symbols; a request carries plain JSON Schema.
      inputSchema: deepFreeze(JSON.parse(JSON.stringify(parameters))),
    }),
    check(args) {
      if (compiled.Check(args)) return undefined
      const errors = new Map<string, string>()
      for (const { path, message } of compiled.Errors(args)) {
        if (!errors.has(path)) errors.set(path, `${path.slice(1).replaceAll('/', '.') || 'arguments'}: ${lowerFirst(message)}`)
        if (errors.size === reportedErrors) break
      }
      return [...errors.values()].join('; ')
    },
    execute: (args, exec) => definition.execute(args as Parameters<typeof definition.execute>[0], exec),
  }
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
