-- Runs in Neovim 0.7 or later without a terminal: a person opens a policy with a mistake, corrects it, and uses what ralph lsp
-- offers. It prints one line for each step; a step that does not end prints why.
local function say(text) io.stdout:write(text .. '\n') end
local function wait(step, done)
  if not vim.wait(20000, done, 1) then
    say('nothing came: ' .. step .. ': ' .. vim.inspect(vim.diagnostic.get(0)))
    vim.cmd('cquit')
  end
end
local client = vim.lsp.start_client({
  name = 'ralph',
  cmd = { vim.env.RALPH_PROGRAM, 'lsp' },
  root_dir = vim.fn.getcwd(),
  flags = { debounce_text_changes = 0 },
})
vim.lsp.buf_attach_client(0, client)
local function at(line, column)
  return { textDocument = vim.lsp.util.make_text_document_params(0), position = { line = line - 1, character = column }, newName = 'task' }
end
local function ask(method, params)
  local answer = vim.lsp.buf_request_sync(0, method, params, 20000)
  return answer and answer[client] and answer[client].result
end

wait('findings', function() return #vim.diagnostic.get(0) == 1 end)
local found = vim.diagnostic.get(0)[1]
say(string.format('%s %s %d:%d %s', found.source, found.code, found.lnum + 1, found.col, vim.split(found.message, '\n')[1]))

-- Typed: "phaze" becomes "phase".
vim.api.nvim_win_set_cursor(0, { 6, 16 })
vim.api.nvim_feedkeys('cwphase' .. vim.api.nvim_replace_termcodes('<Esc>', true, false, true), 'tx', false)
wait('no findings', function() return #vim.diagnostic.get(0) == 0 end)
say('corrected')

say('hover: ' .. ask('textDocument/hover', at(6, 17)).contents.value:gsub('\n', ' '))
local labels = {}
for _, item in ipairs(ask('textDocument/completion', at(6, 16)).items) do
  table.insert(labels, item.label)
end
say('completion: ' .. table.concat(labels, ' '))
say('definition: line ' .. ask('textDocument/definition', at(6, 11)).range.start.line + 1)
vim.lsp.util.apply_workspace_edit(ask('textDocument/rename', at(6, 11)), 'utf-16')
say('renamed: ' .. vim.api.nvim_buf_get_lines(0, 5, 6, false)[1])
wait('no findings after it', function() return #vim.diagnostic.get(0) == 0 end)
vim.lsp.stop_client(client)
wait('the end', function() return vim.lsp.client_is_stopped(client) end)
say('ended')
vim.cmd('qall!')
