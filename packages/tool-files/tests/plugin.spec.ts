import { expect, it } from 'vitest'
import * as toolFiles from '../src/index.ts'
import { app, folder } from './support.ts'

it('offers five tools for as long as it is loaded', async () => {
  const { ctx, fiber } = await app(folder())
  expect(ctx.tools.list()).toEqual(['edit_file', 'list_files', 'read_file', 'search_files', 'write_file'])
  await fiber.dispose()
  expect(ctx.tools.list()).toEqual([])
})

it('offers only what changes nothing with readOnly', async () => {
  const { ctx, call } = await app(folder(), { readOnly: true })
  expect(ctx.tools.list()).toEqual(['list_files', 'read_file', 'search_files'])
  expect(await call('write_file', { path: 'a', content: '' })).toMatch(/^Error: unknown tool "write_file"/)
})

it('states what each tool can do to the world, and which calls may overlap', async () => {
  const { ctx } = await app(folder())
  const view = ctx.tools.view()
  expect(Object.fromEntries(view.names().map(each => [each, `${view.get(each)?.effect} ${view.get(each)?.concurrency}`]))).toEqual({
    edit_file: 'write exclusive', list_files: 'read parallel', read_file: 'read parallel', search_files: 'read parallel', write_file: 'write exclusive',
  })
})

it.each([
  ['read_file', { path: 'a' }],
  ['write_file', { path: 'a', content: '' }],
  ['edit_file', { path: 'a', old_text: 'a', new_text: 'b' }],
  ['list_files', {}],
  ['search_files', { pattern: 'a' }],
])('answers an error to a call of %s without an agent', async (tool, args) => {
  const { call } = await app(undefined)
  expect(await call(tool, args)).toBe(`Error: ${tool} requires a calling agent (exec.agent was undefined)`)
})

it('answers an error where the working directory is gone', async () => {
  const { call } = await app('/nonexistent/folder')
  expect(await call('list_files', {})).toMatch(/^Error: the working directory "\/nonexistent\/folder" cannot be used: ENOENT/)
})

it('has no default export, which would hide `inject` and `Config` from the loader', () => {
  expect(toolFiles).not.toHaveProperty('default')
})
