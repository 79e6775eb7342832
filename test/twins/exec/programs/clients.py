"""A program as people write them: it knows the vendor's own addresses and nothing of twins. Prints what it got as JSON."""
import asyncio
import importlib
import json
import os
import urllib.request

HEADERS = {"Authorization": "Bearer " + os.environ["VAPI_API_KEY"]}
URLS = ["https://api.vapi.ai/call", "http://api.vapi.ai/call"]
results = {}


def installed(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def ask_with_urllib(url):
    answer = urllib.request.urlopen(urllib.request.Request(url, headers=HEADERS))
    return [answer.status, answer.read().decode()]


def ask_with(module, url):
    answer = module.get(url, headers=HEADERS)
    return [answer.status_code, answer.text]


async def ask_with_aiohttp(aiohttp, url):
    async with aiohttp.ClientSession(trust_env=True) as session:
        async with session.get(url, headers=HEADERS) as answer:
            return [answer.status, await answer.text()]


async def ask_with_async_httpx(httpx, url):
    async with httpx.AsyncClient() as client:
        answer = await client.get(url, headers=HEADERS)
        return [answer.status_code, answer.text]


async def call_with_websockets(websockets, scheme):
    """The socket of a call opens under the vendor's name."""
    call = {
        "assistant": {"firstMessage": "Hello."},
        "transport": {
            "provider": "vapi.websocket",
            "audioFormat": {"format": "pcm_s16le", "container": "raw", "sampleRate": 24000},
        },
    }
    request = urllib.request.Request(
        URLS[0], json.dumps(call).encode(), {**HEADERS, "Content-Type": "application/json"}
    )
    address = json.load(urllib.request.urlopen(request))["transport"]["websocketCallUrl"]
    async with websockets.connect(scheme + "://api.vapi.ai" + address.split("/s/dev/vapi")[1]) as socket:
        await socket.send(json.dumps({"type": "end-call"}))
    return [200, "[]"]


for url in URLS:
    results["urllib " + url] = ask_with_urllib(url)
    for name in ["requests", "httpx"]:
        module = installed(name)
        if module:
            results[name + " " + url] = ask_with(module, url)
    if installed("aiohttp"):
        results["aiohttp " + url] = asyncio.run(ask_with_aiohttp(installed("aiohttp"), url))
    if installed("httpx"):
        results["async httpx " + url] = asyncio.run(ask_with_async_httpx(installed("httpx"), url))
if installed("websockets"):
    for scheme in ["wss", "ws"]:
        results["websockets " + scheme] = asyncio.run(call_with_websockets(installed("websockets"), scheme))

print(json.dumps(results))
