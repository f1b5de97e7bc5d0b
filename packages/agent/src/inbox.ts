import type { Session } from '@offshoot/session'
import { textMessage } from './messages.ts'

/** Something that an agent is to be told between two of its steps. */
export interface Notice {
  /**
   * What to tell, asked at the moment of telling. `undefined` where there is nothing to tell any more. `brief` asks for
   * little more than where to read it: with what is told before it, the whole would be too long.
   */
  text(brief?: boolean): string | undefined
  /** Called once, when the text stands in the agent's log. */
  delivered(): void
}

/** What waits to be told to one agent, oldest first. A notice leaves it when it stands in the log, or has nothing to say. */
export class Inbox {
  private notices: Notice[] = []
  private readonly maxBytes: number
  private readonly log: (error: unknown) => void

  /** `maxBytes`: what goes over it in one message is told briefly. */
  constructor(maxBytes: number, log: (error: unknown) => void) {
    this.maxBytes = maxBytes
    this.log = log
  }

  /** One that waits already is not told twice. */
  add(notice: Notice): void {
    if (!this.notices.includes(notice)) this.notices.push(notice)
  }

  /** Whether there is anything to tell now. What has nothing to say any more is let go. */
  hasNews(): boolean {
    return this.notices.length > 0 && this.news().length > 0
  }

  /**
   * Tell everything that waits, in one message at the end of `session`. Answers whether there was anything.
   *
   * What cannot be told now still waits, and is told at the next occasion.
   */
  deliver(session: Session): boolean {
    if (this.notices.length === 0) return false
    const news = this.news()
    if (news.length === 0) return false
    try {
      session.append(textMessage(news.map(({ text }) => text).join('\n')), 'notice')
    } catch (error) {
      this.log(error)
      return false
    }
    const told = new Set(news.map(({ notice }) => notice))
    this.notices = this.notices.filter(notice => !told.has(notice))
    for (const notice of told) {
      try {
        notice.delivered()
      } catch (error) {
        this.log(error)
      }
    }
    return true
  }

  private news(): { notice: Notice, text: string }[] {
    const news: { notice: Notice, text: string }[] = []
    let left = this.maxBytes
    this.notices = this.notices.filter(notice => {
      try {
        let text = notice.text()
        if (text === undefined) return false
        if (Buffer.byteLength(text) > left) text = notice.text(true) ?? text
        left -= Buffer.byteLength(text)
        news.push({ notice, text })
      } catch (error) {
        this.log(error)
      }
      return true
    })
    return news
  }
}
