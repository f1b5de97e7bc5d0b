export { type Document, isAlias, isCollection, isMap, isScalar, isSeq, LineCounter, type Node, type Pair, parseDocument, visit, type YAMLError } from 'yaml'
