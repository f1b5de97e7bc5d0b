import { describe, expect, it } from 'vitest'
import { ask, callsOf, finishOf, follow, refusal, results, say, textOf } from './support.ts'

describe('the first rule that fits', () => {
  it('answers, in the order of the script', async () => {
    const model = await follow({ when: { step: 2 }, reply: 'second' }, { when: { label: 'main' }, reply: 'main' }, { reply: 'rest' })
    expect(await textOf(model)).toBe('main')
    expect(await textOf(model, { step: 2 })).toBe('second')
    expect(await textOf(model, { label: 'other' })).toBe('rest')
  })

  it('fits where all that it asks for does', async () => {
    const model = await follow({ when: { label: 'main', step: 2, last: 'file' }, reply: 'yes' }, { reply: 'no' })
    expect(await textOf(model, { step: 2, prompt: say('a file') })).toBe('yes')
    expect(await textOf(model, { step: 1, prompt: say('a file') })).toBe('no')
    expect(await textOf(model, { step: 2, label: 'x', prompt: say('a file') })).toBe('no')
    expect(await textOf(model, { step: 2, prompt: say('a folder') })).toBe('no')
  })

  it('compares the whole label, or tests it against a /pattern/flags', async () => {
    const model = await follow({ when: { label: 'count' }, reply: 'exact' }, { when: { label: '/^COUNT \\d+$/i' }, reply: 'pattern' }, { reply: 'neither' })
    expect(await textOf(model, { label: 'count' })).toBe('exact')
    expect(await textOf(model, { label: 'Count 12' })).toBe('pattern')
    expect(await textOf(model, { label: 'count me' })).toBe('neither')
  })

  it('looks for a part of the last message, or tests it against a pattern', async () => {
    const model = await follow({ when: { last: 'needle' }, reply: 'part' }, { when: { last: '/^\\w+$/' }, reply: 'pattern' }, { reply: 'neither' })
    expect(await textOf(model, { prompt: say('a needle here') })).toBe('part')
    expect(await textOf(model, { prompt: say('word') })).toBe('pattern')
    expect(await textOf(model, { prompt: say('two words') })).toBe('neither')
  })

  it('takes slashes that end in no flags for plain text', async () => {
    const model = await follow({ when: { last: '/usr/local/bin' }, reply: 'path' }, { reply: 'no' })
    expect(await textOf(model, { prompt: say('look in /usr/local/bin please') })).toBe('path')
  })

  it('sees tool results as the last message, one a line', async () => {
    const model = await follow({ when: { last: '/^one\ntwo$/' }, reply: 'both' })
    expect(await textOf(model, { step: 2, prompt: [...say('go'), ...results('one', 'two')] })).toBe('both')
  })

  it('is found again for each request: rules are not used up', async () => {
    const model = await follow({ when: { last: '/h(.)llo/' }, reply: '{{match.1}}' })
    expect([await textOf(model), await textOf(model)]).toEqual(['e', 'e'])
  })

  it('fails the request where none fits, in a sentence that says what was asked', async () => {
    const model = await follow({ when: { step: 9 }, reply: 'x' })
    await expect(ask(model, { label: 'research', step: 3, prompt: say(`Find it. ${'x'.repeat(500)}`) })).rejects.toMatchObject({
      code: 'NO_REPLY',
      message: expect.stringMatching(/^no rule in model "main" fits label "research", step 3, last message "Find it\. x+…; a rule without "when" fits everything$/) as string,
    })
  })

  it('has no label and step 0 to fit where no agent asks', async () => {
    const model = await follow({ when: { label: '/./' }, reply: 'agent' }, { reply: 'nobody' })
    const { stream } = await model.doStream({ prompt: say('hello') })
    const parts = []
    for await (const part of stream) parts.push(part)
    expect(parts).toContainEqual({ type: 'text-delta', id: 'text', delta: 'nobody' })
  })
})

describe('templates', () => {
  it('stand for the last message', async () => {
    const model = await follow({ reply: 'You said "{{last}}", {{ last }}.' })
    expect(await textOf(model)).toBe('You said "hello", hello.')
  })

  it('stand for each result of the last tool message, also when a message came after it', async () => {
    const model = await follow({ reply: '{{last.1}} then {{last.0}} ({{last}})' })
    const prompt = [...say('go'), ...results('old'), ...results('one', 'two'), ...say('and?').slice(1)]
    expect(await textOf(model, { prompt })).toBe('two then one (and?)')
  })

  it('stand for groups of the pattern, by number and by name, and for nothing where a group took no part', async () => {
    const model = await follow({ when: { last: '/read (?<file>\\S+)( twice)?/' }, reply: '[{{match.0}}|{{match.1}}|{{match.file}}|{{match.2}}]' })
    expect(await textOf(model, { prompt: say('please read a.txt now') })).toBe('[read a.txt|a.txt|a.txt|]')
  })

  it('are filled in at any depth of a call\'s arguments, and leave the rest as it is', async () => {
    const args = { path: '{{match.1}}', list: ['{{last}}', 2, null, { deep: 'x{{match.1}}x' }], '{{last}}': true }
    const model = await follow({ when: { last: '/(\\w+)$/' }, calls: [{ tool: 'look', args }] })
    expect(await callsOf(model)).toEqual([
      { id: 'call_1', tool: 'look', args: { path: 'hello', list: ['hello', 2, null, { deep: 'xhellox' }], '{{last}}': true } },
    ])
  })

  it('take what they stand for as it is, templates in it included', async () => {
    const model = await follow({ reply: '{{last}}' })
    expect(await textOf(model, { prompt: say('$& {{last.0}} $1') })).toBe('$& {{last.0}} $1')
  })

  it('fail the request where there is no such tool result', async () => {
    const model = await follow({ reply: '{{last.1}}' })
    await expect(ask(model, { prompt: [...say('go'), ...results('one')] })).rejects.toThrow('{{last.1}} stands for nothing: the last tool message has 1 results')
  })
})

describe('a reply', () => {
  it('holds reasoning, text and calls, in this order', async () => {
    const model = await follow({ reasoning: 'why', reply: 'so', calls: [{ tool: 'a', args: { x: 1 } }, { tool: 'b' }] })
    const parts = await ask(model)
    expect(parts.map(part => part.type)).toEqual([
      'reasoning-start', 'reasoning-delta', 'reasoning-end', 'text-start', 'text-delta', 'text-end', 'tool-call', 'tool-call', 'finish',
    ])
    expect(finishOf(parts).finishReason.unified).toBe('tool-calls')
  })

  it('ends with "stop", or as the rule says', async () => {
    const model = await follow({ when: { step: 1 }, reply: 'x' }, { when: { step: 2 }, reply: 'x', finish: 'length' }, { finish: 'content-filter' })
    const reasons = []
    for (const step of [1, 2, 3]) reasons.push(finishOf(await ask(model, { step })).finishReason.unified)
    expect(reasons).toEqual(['stop', 'length', 'content-filter'])
  })

  it('numbers its calls through the whole app, and gives a call without args an empty mapping', async () => {
    const model = await follow({ calls: [{ tool: 'a' }, { tool: 'b' }] })
    expect(await callsOf(model)).toEqual([{ id: 'call_1', tool: 'a', args: {} }, { id: 'call_2', tool: 'b', args: {} }])
    expect((await callsOf(model)).map(call => call.id)).toEqual(['call_3', 'call_4'])
  })

  it('may be empty text', async () => {
    const parts = await ask(await follow({ reply: '' }))
    expect(finishOf(parts).finishReason.unified).toBe('stop')
  })
})

describe('a rule is refused at load, naming the rule and the key', () => {
  const cases: [string, unknown, string][] = [
    ['no mapping', 'hello', 'must be a mapping, not "hello"'],
    ['an unknown key', { reply: 'x', delay: 3 }, 'unknown key "delay" (keys: calls, delayMs, fail, finish, reasoning, reply, when)'],
    ['a misspelt key', { replay: 'x' }, 'unknown key "replay"; did you mean "reply"? (keys: calls, delayMs, fail, finish, reasoning, reply, when)'],
    ['a misspelt condition', { when: { lable: 'x' }, reply: 'x' }, 'when: unknown key "lable"; did you mean "label"? (keys: label, last, step)'],
    ['nothing said', { when: { step: 1 }, delayMs: 3 }, 'says nothing; give it reply, calls, reasoning, finish or fail'],
    ['a condition that is no mapping', { when: null, reply: 'x' }, 'when: must be a mapping, not null'],
    ['a step that is no number', { when: { step: '1' }, reply: 'x' }, 'when.step: must be a step\'s number, from 1, not "1"'],
    ['step 0', { when: { step: 0 }, reply: 'x' }, 'when.step: must be a step\'s number, from 1, not 0'],
    ['a label that is no text', { when: { label: 3 }, reply: 'x' }, 'when.label: must be text, not 3'],
    ['a pattern that is none', { when: { last: '/(/' }, reply: 'x' }, 'when.last: Invalid regular expression: /(/: Unterminated group'],
    ['a flag without meaning', { when: { last: '/x/g' }, reply: 'x' }, 'when.last: /x/g cannot have the flags g and y'],
    ['a reply that is no text', { reply: 42 }, 'reply: must be text, not 42'],
    ['a reply left empty', { reply: null }, 'reply: must be text, not null'],
    ['calls that are no list', { calls: { tool: 'a' } }, 'calls: must be a list, not {"tool":"a"}'],
    ['a call without a tool', { calls: [{ tool: 'a' }, { args: {} }] }, 'calls[1].tool: must be text, not nothing'],
    ['a misspelt key of a call', { calls: [{ tool: 'a', arg: {} }] }, 'calls[0]: unknown key "arg"; did you mean "args"? (keys: args, tool)'],
    ['arguments that are no mapping', { calls: [{ tool: 'a', args: 'x' }] }, 'calls[0].args: must be a mapping, not "x"'],
    ['a delay that is no number', { reply: 'x', delayMs: '3' }, 'delayMs: must be milliseconds, from 0, not "3"'],
    ['a negative delay', { reply: 'x', delayMs: -1 }, 'delayMs: must be milliseconds, from 0, not -1'],
    ['an unknown finish', { reply: 'x', finish: 'end' }, 'finish: must be one of stop, length, content-filter, tool-calls, error, other, not "end"'],
    ['a failure that also answers', { reply: 'x', fail: { message: 'no' } }, 'fail: a request that fails has no "reply"'],
    ['a failure without a message', { fail: {} }, 'fail.message: must be text, not nothing'],
    ['a status that is none', { fail: { message: 'no', status: 200 } }, 'fail.status: must be an HTTP status from 400 to 599, not 200'],
    ['a code that is none', { fail: { message: 'no', code: 1113 } }, 'fail.code: must be text, not 1113'],
    ['a wait that is none', { fail: { message: 'no', retryAfterMs: -1 } }, 'fail.retryAfterMs: must be milliseconds, from 0, not -1'],
    ['an unknown template', { reply: 'a {{lsat}}' }, 'reply: unknown template {{lsat}} (templates: {{last}}, {{last.N}}, {{match.N}}, {{match.name}})'],
    ['an unknown template in arguments', { calls: [{ tool: 'a', args: { deep: ['{{last.x}}'] } }] }, 'calls[0].args: unknown template {{last.x}} (templates: {{last}}, {{last.N}}, {{match.N}}, {{match.name}})'],
    ['a group without a pattern', { when: { last: 'plain' }, reply: '{{match.1}}' }, 'reply: {{match.1}} needs a pattern in when.last, such as /file (\\S+)/'],
    ['a group that the pattern lacks', { when: { last: '/(a)/' }, reply: '{{match.2}}' }, 'reply: {{match.2}} stands for nothing: /(a)/ has 1 groups'],
    ['a name that the pattern lacks', { when: { last: '/(?<a>a)/' }, reply: '{{match.b}}' }, 'reply: {{match.b}} stands for nothing: /(?<a>a)/ has no group of that name'],
  ]

  it.each(cases)('%s', async (_what, rule, sentence) => {
    expect(await refusal({ rules: [{ reply: 'fine' }, rule] })).toBe(`INVALID_SCRIPT: model "main": rule 2: ${sentence}`)
  })

  it('no rules at all', async () => {
    expect(await refusal({ rules: [] })).toBe('INVALID_SCRIPT: model "main": must be a list of rules, not []')
  })
})
