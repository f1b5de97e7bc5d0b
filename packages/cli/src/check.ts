import { closeApp, createAgent, openApp } from './app.ts'
import { exit, type Io } from './io.ts'

/** `offshoot check`: load the app and end. What is wrong is thrown, as for every command. */
export async function check({ config }: { config: string }, io: Io): Promise<number> {
  const app = await openApp(config, io)
  try {
    const { modelName } = createAgent(app, config, {})
    const { models, tools, subagents } = app.ctx
    io.stdout.write(`${config}: ok\n`)
    io.stdout.write(`  models:     ${models.list().map(name => name === modelName ? `${name} (default)` : name).join(', ')}\n`)
    io.stdout.write(`  tools:      ${tools.list().join(', ') || 'none'}\n`)
    io.stdout.write(`  delegation: ${app.ctx.get('subagents') ? subagents.list().join(', ') || 'no provider' : 'none'}\n`)
    return exit.completed
  } finally {
    await closeApp(app, exit.completed, io)
  }
}
