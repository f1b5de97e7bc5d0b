import { type Document, isAlias, isCollection, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, visit, type YAMLError } from './bundled/yaml.ts'
import type { Position } from './entry.ts'
import { JsExpression } from './evaluate.ts'

const JS_TAG = {
  tag: 'tag:yaml.org,2002:js',
  identify: (value: unknown) => value instanceof JsExpression,
  resolve: (source: string) => new JsExpression(source),
}

/** The text of a config file, and where its nodes are. */
export class Source {
  readonly document: Document
  private readonly text: string
  private readonly lines = new LineCounter()

  constructor(text: string) {
    this.text = text
    this.document = parseDocument(text, {
      lineCounter: this.lines, schema: 'core', prettyErrors: false, customTags: [JS_TAG],
    })
  }

  at(node: unknown): Position {
    return this.position((node as Node | null)?.range?.[0] ?? 0)
  }

  /** The node that an alias stands for; any other node is itself. */
  resolve(node: unknown): unknown {
    return isAlias(node) ? node.resolve(this.document) : node
  }

  toJS(node: unknown): unknown {
    return (node as Node | null)?.toJS(this.document)
  }

  /** The first thing that is not YAML: what follows it is often its consequence. */
  fault(): { at: Position, message: string } | undefined {
    const { errors, warnings } = this.document
    const [error] = [...errors, ...warnings].sort((a, b) => a.pos[0] - b.pos[0])
    if (error) return { at: this.position(error.pos[0]), message: `invalid YAML: ${explain(error)}${this.hint(error.pos[0])}` }
    let alias: { at: Position, message: string } | undefined
    visit(this.document, {
      Alias: (_, node) => {
        if (node.resolve(this.document)) return undefined
        alias = { at: this.at(node), message: `invalid YAML: there is no anchor &${node.source} before *${node.source}` }
        return visit.BREAK
      },
    })
    return alias
  }

  /** A tab looks like spaces, and is not allowed to stand for them. */
  private hint(offset: number): string {
    const start = this.text.lastIndexOf('\n', offset - 1) + 1
    return /^ *\t/.test(this.text.slice(start)) ? '; indent with spaces, not tabs' : ''
  }

  private position(offset: number): Position {
    const { line, col } = this.lines.linePos(offset)
    return { line, col }
  }
}

/** What a person would call a node. */
export function kindOf(node: unknown): string {
  if (isMap(node)) return 'a mapping'
  if (isSeq(node)) return 'a list'
  const value: unknown = isScalar(node) ? node.value : node
  if (value instanceof JsExpression) return 'an expression'
  return value === null || value === undefined || isCollection(node) ? 'nothing' : `the ${typeof value} ${JSON.stringify(value)}`
}

function explain({ code, message }: YAMLError): string {
  switch (code) {
    case 'MULTIPLE_DOCS':
      return 'a second document starts here; a config file holds one list'
    case 'BAD_SCALAR_START':
      return `${lowerFirst(message)}; put the value in quotes`
    case 'TAG_RESOLVE_FAILED':
      return `${lowerFirst(message)}; the only tag is !!js, before an expression`
    default:
      return lowerFirst(message)
  }
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
