export { loadApp } from './app.ts'
export { AppError, type AppErrorCode, type AppProblem, formatProblem } from './error.ts'
export type { LogLevel, LogSink } from './log.ts'
export type { App, LoadOptions } from './types.ts'
