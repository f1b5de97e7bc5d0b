import { chatCommandsHelp } from './chat-commands.ts'

export interface HelpSection {
  readonly title: string
  readonly body: string
}

/** What the help of `command`, or the general one, says after its options. */
export function helpSections(command: string | undefined): HelpSection[] {
  if (command === 'chat') {
    return [
      section('Lines for the command itself', chatCommandsHelp()),
      section('Ctrl-C', 'once ends the turn, twice everything that runs, a third time the process at once'),
      section('Exit codes', `0  the lines ended, and nothing runs any more\n${failures}`),
    ]
  }
  if (command === 'start') {
    return [
      section('Ctrl-C', 'once ends the app in order, a second time the process at once'),
      section('Exit codes', failures),
    ]
  }
  if (command === 'doctor') {
    return [section('Exit codes', '0  all is well\n1  a model or an agent is not\n2  bad config or usage')]
  }
  return [
    ...command === 'run' ? [section('Ctrl-C', 'once ends everything that runs, a second time the process at once')] : [],
    section('Exit codes', `0  completed\n1  not completed, or work in the background was cut\n${failures}`),
  ]
}

const failures = '2  bad config or usage\n129, 130, 143  terminal closed, interrupted, terminated'

function section(title: string, body: string): HelpSection {
  return { title, body: body.trimEnd().replaceAll(/^/gm, '  ') }
}
