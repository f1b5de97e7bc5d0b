/** What comes in, as the protocol's SDK takes it. An error of the input is its end: whoever wrote is gone. */
export function readableBytes(input: NodeJS.ReadableStream): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      const end = (): void => {
        input.off('data', take).off('end', end).off('close', end).off('error', end)
        controller.close()
      }
      const take = (chunk: Uint8Array): void => { controller.enqueue(chunk) }
      input.on('data', take).on('end', end).on('close', end).on('error', end)
    },
  })
}

/** What goes out. Each write is done when `output` has passed it on, so that whoever waits for it keeps pace with the reader. */
export function writableBytes(output: NodeJS.WritableStream): WritableStream<Uint8Array> {
  return new WritableStream({
    write: chunk => new Promise((done, fail) => {
      output.write(chunk, (error?: Error | null) => {
        if (error) fail(error)
        else done()
      })
    }),
  })
}
