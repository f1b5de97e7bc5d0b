const secretName = /((^|_)(KEY|SECRET|PAT|PWD|PASSPHRASE|CREDENTIALS?)|APIKEY|TOKEN|PASSWORD|PASSWD)S?(_?\d+)?$/i
/** The shell's own; a model's key is not called so. */
const shellNames = new Set(['PWD', 'OLDPWD'])

export interface EnvironmentOptions {
  /** Variables passed on although their names look like secrets. */
  readonly inheritEnv: readonly string[]
  /** Variables set for every command. */
  readonly env: Readonly<Record<string, string>>
}

/** What a command finds in its environment: this process's, less what looks like a secret, plus what the config sets. */
export function environment(inherited: NodeJS.ProcessEnv, { inheritEnv, env }: EnvironmentOptions, cwd: string): Record<string, string> {
  const passed = Object.entries(inherited).filter((entry): entry is [string, string] => {
    const [name, value] = entry
    return value !== undefined && (!secretName.test(name) || shellNames.has(name) || inheritEnv.includes(name))
  })
  return { ...Object.fromEntries(passed), PWD: cwd, ...env }
}
