// The official Node SDK as a client: asks for every answer in argv, prints what it got as JSON.
// node sdk_client.mjs BASE_URL REQUEST_FILE
import { readFileSync } from "node:fs";
import OpenAI from "openai";

const [baseURL, file] = process.argv.slice(2);
const { names, outputs, messages, tools, flatTools } = JSON.parse(readFileSync(file, "utf8"));
const client = new OpenAI({ baseURL, apiKey: "k", maxRetries: 0 });

const summary = (choice, thoughts = choice.message.reasoning_content) => ({
  thoughts: thoughts ?? "",
  text: choice.message.content || null,
  calls: (choice.message.tool_calls ?? []).map((c) => [c.function.name, c.function.arguments]),
  ids: (choice.message.tool_calls ?? []).map((c) => c.id),
  reason: choice.finish_reason,
});
const outputSummary = (response) => {
  const calls = response.output.filter((item) => item.type === "function_call");
  const thoughts = response.output.filter((item) => item.type === "reasoning");
  return {
    thoughts: thoughts.flatMap((item) => item.content.map((part) => part.text)).join(""),
    text: response.output_text,
    calls: calls.map((c) => [c.name, c.arguments]),
    ids: calls.map((c) => c.call_id),
  };
};

const got = { whole: {}, streamed: {}, legacy: {}, responses: {}, responsesStreamed: {} };
for (const model of names) {
  const request = { model, messages, tools };
  got.whole[model] = summary((await client.chat.completions.create(request)).choices[0]);
  const stream = client.chat.completions.stream(request);
  let thoughts = "";
  stream.on("chunk", (chunk) => (thoughts += chunk.choices[0]?.delta?.reasoning_content ?? ""));
  got.streamed[model] = summary((await stream.finalChatCompletion()).choices[0], thoughts);
}
for (const model of outputs) {
  const request = { model, input: "1+1?", tools: flatTools };
  got.responses[model] = outputSummary(await client.responses.create(request));
  const stream = client.responses.stream(request);
  got.responsesStreamed[model] = outputSummary(await stream.finalResponse());
}
const functions = tools.map((tool) => tool.function);
const old = await client.chat.completions.create({ model: "simple", messages, functions });
got.legacy.whole = old.choices[0].message.function_call;
got.legacy.name = got.legacy.arguments = "";
const request = { model: "chunked", messages, functions, stream: true };
for await (const chunk of await client.chat.completions.create(request)) {
  const call = chunk.choices[0]?.delta?.function_call;
  got.legacy.name += call?.name ?? "";
  got.legacy.arguments += call?.arguments ?? "";
}
try {
  const cut = { model: "chunked+cutoff+done", messages, tools, stream: true };
  for await (const chunk of await client.chat.completions.create(cut))
    got.cutCalls = (got.cutCalls ?? 0) + (chunk.choices[0]?.delta?.tool_calls?.length ?? 0);
} catch (error) {
  got.cut = error.message;
}
try {
  const dying = { model: "plain+die", messages, stream: true };
  for await (const _ of await client.chat.completions.create(dying));
} catch (error) {
  got.death = error.message;
}
got.model = (await client.models.retrieve("Qwen/Qwen3-8B")).target;
console.log(JSON.stringify(got));
