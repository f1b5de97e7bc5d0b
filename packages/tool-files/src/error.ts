export type FileErrorCode =
  | 'NO_AGENT' | 'OUTSIDE' | 'PROTECTED' | 'NOT_FOUND' | 'NOT_A_FILE' | 'NOT_A_FOLDER' | 'BINARY' | 'TOO_LARGE'
  | 'NO_MATCH' | 'AMBIGUOUS' | 'INVALID_ARGUMENT' | 'SLOW_PATTERN' | 'CHANGED' | 'REFUSED_BY_SYSTEM'

/** A refusal by a file tool. Programs switch on `code`; `message` is for the model, and for people. */
export class FileError extends Error {
  override readonly name = 'FileError'
  readonly code: FileErrorCode

  constructor(code: FileErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The system's own error code, as `ENOENT`; `undefined` for what the system did not throw. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** What the system threw about `path`, in a sentence; anything else as it is. */
export function explain(error: unknown, path: string): unknown {
  const code = systemCode(error)
  if (error instanceof FileError || code === undefined || !/^E[A-Z0-9]+$/.test(code)) return error
  const options = { cause: error }
  switch (code) {
    case 'ENOENT': return new FileError('NOT_FOUND', `there is no "${path}"; list_files shows what there is`, options)
    case 'ENOTDIR':
    case 'EEXIST': return new FileError('NOT_A_FOLDER', `"${path}" leads through something that is not a folder`, options)
    case 'ELOOP': return new FileError('NOT_A_FILE', `"${path}" leads through symbolic links in a circle`, options)
    default: return new FileError('REFUSED_BY_SYSTEM', `the system refused "${path}": ${(error as Error).message}`, options)
  }
}
