import { signalGroup } from '@offshoot/processes'
import { spawn } from 'node:child_process'
import { WorktreeError } from './error.ts'

export interface GitOptions {
  readonly cwd: string
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

export interface GitAnswer {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/**
 * Run git, and everything that it starts, to its end.
 *
 * @throws {WorktreeError} `NOT_SUPPORTED` where there is none, `TIMEOUT`; the reason of `signal`. Nothing of it runs on then.
 */
export async function git(args: readonly string[], { cwd, timeoutMs, signal }: GitOptions): Promise<GitAnswer> {
  signal?.throwIfAborted()
  // A group of its own: filters that git starts end with it.
  const child = spawn('git', args, { cwd, env: environment(), stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  let [stdout, stderr, isLate] = ['', '', false]
  child.stdout.setEncoding('utf8').on('data', (text: string) => { stdout += text })
  child.stderr.setEncoding('utf8').on('data', (text: string) => { stderr += text })
  const end = (): void => { if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL') }
  const timer = setTimeout(() => {
    isLate = true
    end()
  }, timeoutMs)
  signal?.addEventListener('abort', end)
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', resolve)
    })
    signal?.throwIfAborted()
    if (isLate) throw new WorktreeError('TIMEOUT', `git ${args.join(' ')} took longer than ${timeoutMs} ms (timeoutMs)`)
    return { code: code ?? 1, stdout, stderr }
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    throw new WorktreeError('NOT_SUPPORTED', `git cannot run in ${cwd}: ${error.message}; is git installed, and is that a folder?`, { cause: error })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
  }
}

/** What git said, in one line. */
export function gitWords({ stdout, stderr, code }: GitAnswer): string {
  const text = (stderr.trim() === '' ? stdout : stderr).trim().replace(/\s*\n\s*/g, '; ')
  return text === '' ? `exit code ${code}` : text
}

/** Without what a hook or a command of git has set for itself, which names another repository. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_') || /^GIT_(?:SSH|SSL|ASKPASS|EXEC_PATH|TRACE|AUTHOR|COMMITTER|CONFIG_GLOBAL|CONFIG_SYSTEM|CONFIG_NOSYSTEM)/.test(name))
  return { ...Object.fromEntries(kept), LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0' }
}
