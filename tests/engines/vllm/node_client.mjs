// The official Node SDK: asks one server in the four ways there are, and prints what it ends up with.
import OpenAI from "openai";

const [baseURL, chatRequest, responsesRequest] = JSON.parse(process.argv[2]);
const client = new OpenAI({ baseURL, apiKey: "none", maxRetries: 2 });

const ofChat = ({ choices: [choice] }) => ({
  content: choice.message.content,
  calls: (choice.message.tool_calls ?? []).map((c) => [c.function.name, c.function.arguments]),
  finish: choice.finish_reason,
});
const ofResponse = (response) => {
  const calls = response.output.filter((item) => item.type === "function_call");
  return { content: response.output_text, calls: calls.map((c) => [c.name, c.arguments]) };
};

console.log(
  JSON.stringify([
    ofChat(await client.chat.completions.create(chatRequest)),
    ofChat(await client.chat.completions.stream(chatRequest).finalChatCompletion()),
    ofResponse(await client.responses.create(responsesRequest)),
    ofResponse(await client.responses.stream(responsesRequest).finalResponse()),
  ]),
);
