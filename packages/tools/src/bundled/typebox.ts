export { type Static, type TObject, Type } from '@sinclair/typebox'
export { TypeCompiler } from '@sinclair/typebox/compiler'
