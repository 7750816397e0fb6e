-- Asks for the queries of a file one after another, and prints what was measured as one line of JSON.
-- wrk -s requests.lua URL -- PATH QUERIES FIRST COUNT: COUNT queries from number FIRST on, again and again.

local paths = {}
local at = 0

local function encoded(text)
  return (text:gsub("[^%w%-%.%_%~]", function(letter) return string.format("%%%02X", string.byte(letter)) end))
end

function init(arguments)
  local path, file, first, count = arguments[1], arguments[2], tonumber(arguments[3]), tonumber(arguments[4])
  local number = 0
  for line in io.lines(file) do
    number = number + 1
    if number >= first and number < first + count then paths[#paths + 1] = path .. encoded(line) end
  end
end

function request()
  at = at % #paths + 1
  return wrk.format("GET", paths[at])
end

function done(summary, latency)
  local wrong = summary.errors
  io.write(string.format(
    '{"requests": %d, "seconds": %.3f, "bytes": %d, "p50_ms": %.3f, "p99_ms": %.3f, "max_ms": %.3f, "wrong": %d}\n',
    summary.requests, summary.duration / 1e6, summary.bytes, latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    latency.max / 1000, wrong.connect + wrong.read + wrong.write + wrong.status + wrong.timeout))
end
