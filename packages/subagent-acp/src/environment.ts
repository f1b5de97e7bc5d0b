/**
 * What an agent finds of this process's environment without being given it by name: where things are, who runs it, which language,
 * and how to reach the network. No keys and no tokens, whatever an app calls them.
 */
const base = new Set([
  'PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LANGUAGE', 'TZ', 'TMPDIR', 'TERM', 'COLORTERM', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS',
  'HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'all_proxy', 'no_proxy',
])
const basePrefixes = ['LC_', 'XDG_']

export interface EnvironmentOptions {
  /** Names of further variables to pass on. */
  readonly inheritEnv: readonly string[]
  /** Variables to set. */
  readonly env: Readonly<Record<string, string>>
}

/** All that an agent finds in its environment. What the run sets wins, then what the config sets. */
export function environment(inherited: NodeJS.ProcessEnv, { inheritEnv, env }: EnvironmentOptions, run: Readonly<Record<string, string>>, cwd: string): Record<string, string> {
  const passes = (name: string): boolean => base.has(name) || basePrefixes.some(prefix => name.startsWith(prefix)) || inheritEnv.includes(name)
  const passed = Object.entries(inherited).filter((entry): entry is [string, string] => entry[1] !== undefined && passes(entry[0]))
  return { ...Object.fromEntries(passed), PWD: cwd, ...env, ...run }
}
