import { startEndpoint } from '@offshoot/model-ai-sdk/testing'
import { AcpClient } from './acp-client.ts'
import { folderWith } from './support.ts'
import { gate, lastMessageText } from './wire.ts'

export const config = `
- name: '@offshoot/runtime'
  config: { approvals: { execute: ask } }
- name: '@offshoot/model-ai-sdk'
  config: { baseURL: !!js process.env.OPENAI_BASE_URL, model: test-model }
- name: '@offshoot/tool-files'
- name: '@offshoot/tool-shell'
- name: '@offshoot/tool-subagent'
  config: { provider: spawn, toolName: research }
`

export interface Served extends AsyncDisposable {
  readonly client: AcpClient
  readonly cwd: string
  /** What the model was asked last. */
  readonly asked: () => string
  readonly release: () => void
}

/** The real command over an endpoint whose model does what it is asked. */
export async function serve(yaml = config, files: Record<string, string> = {}, env: Record<string, string> = {}): Promise<Served> {
  const held = gate()
  let asked = ''
  const endpoint = await startEndpoint(request => {
    const last = asked = lastMessageText(request)
    const text = Array.isArray(last) ? JSON.stringify(last) : last
    if (text === 'Touch.') return { calls: [{ name: 'shell', arguments: { command: 'touch made' } }] }
    if (text === 'Write.') return { calls: [{ name: 'write_file', arguments: { path: 'a.txt', content: 'new' } }] }
    if (text === 'Delegate.') return { calls: [{ name: 'research', arguments: { description: 'look it up', prompt: 'Look.' } }] }
    if (text === 'Wait.') return { text: ['I ', 'wait'], holdAfter: held.opened }
    // Whatever signal tells it to end, it does not.
    if (text === 'Sleep.') return { calls: [{ name: 'shell', arguments: { command: 'trap "" TERM HUP INT; touch sleeping; while :; do sleep 1; done' } }] }
    if (text === 'Have somebody sleep.') return { calls: [{ name: 'research', arguments: { description: 'sleep', prompt: 'Sleep.' } }] }
    if (text === 'Have somebody sleep in the background.') return { calls: [{ name: 'research', arguments: { description: 'sleep', prompt: 'Sleep.', run_in_background: true } }] }
    if (text === 'Read.') return { calls: [{ name: 'read_file', arguments: { path: 'a.txt' } }] }
    if (text === 'Delegate in the background.') return { calls: [{ name: 'research', arguments: { description: 'look it up', prompt: 'Look.', run_in_background: true } }] }
    if (text === 'Think.') return { reasoning: 'Let me see.', text: 'I thought.' }
    if (text === 'Fail.') return { status: 400, error: 'no such model' }
    if (text === 'Cut.') return { text: 'It goes', finishReason: 'length' }
    return { text: `Heard: ${text}` }
  })
  const cwd = folderWith({ 'cordis.yml': yaml, ...files })
  const client = new AcpClient({ cwd, env: { OPENAI_BASE_URL: endpoint.baseURL, ...env } })
  return {
    client, cwd, asked: () => asked, release: () => { held.open() },
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]()
      await endpoint.close()
    },
  }
}
