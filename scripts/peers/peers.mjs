/**
 * An agent that others make: what to install, and how to run it on a model on 127.0.0.1, away from everybody's settings.
 *
 * @typedef {object} Peer
 * @property {string} name also of its folder in the cache
 * @property {string} package
 * @property {string} version
 * @property {string} bin
 * @property {string[]} args
 * @property {boolean} [needsInstallScript] its program is put into place by one
 * @property {string} [mode]
 * @property {(url: string, home: string) => Record<string, string>} env beside HOME and what every program needs
 * @property {(url: string) => Record<string, string>} files its settings, by their path in its HOME
 */

/** @type {Peer} */
const gemini = {
  name: 'gemini',
  package: '@google/gemini-cli',
  version: '0.61.0',
  bin: 'gemini',
  args: ['--acp', '--model', 'gemini-2.5-flash'],
  env: url => ({ GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_NO_RELAUNCH: 'true' }),
  files: () => ({
    '.gemini/settings.json': JSON.stringify({
      security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
      general: { disableAutoUpdate: true, enableAutoUpdate: false },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
    }),
  }),
}

/** @type {Peer} */
const codex = {
  name: 'codex',
  package: '@agentclientprotocol/codex-acp',
  version: '2.6.0',
  bin: 'codex-acp',
  args: [],
  // In its own default mode its model decides what a person would be asked.
  mode: 'workspace-write',
  env: (_url, home) => ({ CODEX_HOME: `${home}/.codex`, NO_BROWSER: '1', OPENAI_API_KEY: 'none', CODEX_API_KEY: 'none', MODEL_PROVIDER: 'fake' }),
  files: url => ({
    '.codex/config.toml': `
model = "fake-model"
model_provider = "fake"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.fake]
name = "Fake"
base_url = "${url}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
`,
  }),
}

/** @type {Peer} */
const opencode = {
  name: 'opencode',
  package: 'opencode-ai',
  version: '1.18.33',
  bin: 'opencode',
  needsInstallScript: true,
  args: ['acp'],
  env: () => ({ OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' }),
  files: url => ({
    '.config/opencode/opencode.json': JSON.stringify({
      autoupdate: false,
      share: 'disabled',
      model: 'fake/fake-model',
      small_model: 'fake/fake-model',
      enabled_providers: ['fake'],
      permission: { bash: 'ask', edit: 'ask' },
      provider: {
        fake: {
          npm: '@ai-sdk/openai-compatible',
          name: 'Fake',
          options: { baseURL: `${url}/v1`, apiKey: 'none' },
          models: { 'fake-model': { name: 'Fake', limit: { context: 100_000, output: 4096 } } },
        },
      },
    }),
  }),
}

export const peers = [gemini, codex, opencode]
