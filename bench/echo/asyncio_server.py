"""The same by Python's asyncio; with the argument "uvloop" on that loop."""
import asyncio
import sys


class Answer(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.transport.write(data)


async def serve():
    server = await asyncio.get_running_loop().create_server(Answer, "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if "uvloop" in sys.argv:
    import uvloop

    uvloop.install()
asyncio.run(serve())
